package tollbooth.telemetry.burn;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Burns before a request is passed on: the answer is sent before a filter gets it back. */
final class BurnFilter extends HttpFilter {

  private static final long serialVersionUID = 1L;

  private final transient Burner burner;

  BurnFilter(Burner burner) {
    this.burner = burner;
  }

  @Override
  protected void doFilter(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    burner.request();
    chain.doFilter(request, response);
  }
}
