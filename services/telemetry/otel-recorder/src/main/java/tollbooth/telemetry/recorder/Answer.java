package tollbooth.telemetry.recorder;

/**
 * A complete HTTP answer.
 *
 * @param retryAfter the header's value; null if absent
 * @param keepsConnection whether the connection takes another request
 * @param body at most {@link AnswerReader#MOST_BODY_BYTES}
 */
record Answer(int status, String retryAfter, boolean keepsConnection, byte[] body) {

  boolean isSuccess() {
    return status >= 200 && status < 300;
  }
}
