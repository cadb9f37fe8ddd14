package tollbooth.workload;

import java.util.Collection;
import java.util.Comparator;

/** Finds the name that was probably meant. */
final class Nearest {

  private Nearest() {}

  /** Says which of the names there are is nearest to a wrong one, and lists them. */
  static String hint(String wrong, Collection<String> names) {
    return names.stream()
        .min(Comparator.comparingInt(name -> distance(wrong, name)))
        .map(nearest -> "did you mean '" + nearest + "'? There is: " + String.join(", ", names))
        .orElse("there is none");
  }

  /** Levenshtein's distance (1966), one row at a time. */
  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int substituted = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(substituted, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[b.length()];
  }
}
