// Numbers for readers: few digits, a unit, and a dash for what was not measured.

export const DASH = "–";
const MINUS = "−";

/** Three significant digits, or as many as requested. */
export function number(value, digits = 3) {
  if (!Number.isFinite(value)) return DASH;
  const magnitude = value === 0 ? digits : Math.floor(Math.log10(Math.abs(value)));
  const decimals = Math.min(6, Math.max(0, digits - 1 - magnitude));
  const shown = value.toLocaleString("en", {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  return /[1-9]/.test(shown) ? shown.replace("-", MINUS) : "0";
}

/** A rate of requests. */
export const rate = (perSecond) => withUnit(number(perSecond), "/s");

/** A share in percent. */
export const percent = (share) => withUnit(number(scaled(share, 0.01), 2), "\u00a0%");

/** A value in a larger unit, without its name; what was not measured stays so. */
export const scaled = (value, size) => (Number.isFinite(value) ? value / size : null);

/** A mean with its interval: 22.8 (21.8 to 23.8). */
export function interval(estimate) {
  if (!estimate) return DASH;
  return `${number(estimate.mean)} (${number(estimate.low)} to ${number(estimate.high)})`;
}

/** A time of day: 10:42:07. */
export function clock(unixSeconds) {
  return Number.isFinite(unixSeconds) ? new Date(unixSeconds * 1000).toLocaleTimeString("en-GB") : DASH;
}

/** Minutes and seconds that are left: 9:41. */
export function countdown(seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** A text of at most so many characters. */
export function shortened(text, characters) {
  return text.length > characters ? `${text.slice(0, Math.max(1, characters - 1))}…` : text;
}

function withUnit(text, unit) {
  return text === DASH ? DASH : text + unit;
}
