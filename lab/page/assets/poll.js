// Repeats a task: never twice at once, and not while nobody looks.

/** Repeat an asynchronous task, which returns after how many ms it is due again, or null for never. */
export function poll(task) {
  let timer = null;
  let busy = false;

  async function run() {
    if (busy || document.hidden) return;
    busy = true;
    clearTimeout(timer);
    const wait = await task();
    busy = wait === null;
    if (!busy) timer = setTimeout(run, wait);
  }

  document.addEventListener("visibilitychange", run);
  run();
}
