package tollbooth.web;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Writes a file and then renames it into place, so no reader finds a part of it. */
public final class AtomicFile {

  private AtomicFile() {}

  /** Replaces the file; throws {@code UncheckedIOException} if that fails. */
  public static void write(Path file, String text) {
    Path unfinished = file.resolveSibling("." + file.getFileName() + ".unfinished");
    try {
      Files.writeString(unfinished, text);
      Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException failed) {
      throw new UncheckedIOException("cannot write " + file, failed);
    }
  }
}
