package tollbooth.telemetry.recorder;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.net.spi.InetAddressResolver;
import java.net.spi.InetAddressResolverProvider;
import java.security.Security;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * Never finds one name, without an error either. Another one fails once, then moves: from an
 * address where nobody listens to that of the endpoints. All others are looked up as usual.
 */
public final class SlowResolver extends InetAddressResolverProvider {

  static final String NAME = "slow.test";
  static final CountDownLatch ASKED = new CountDownLatch(1);
  static final String MOVING = "moving.test";

  /** How often that name was looked up. */
  static final AtomicInteger MOVES = new AtomicInteger();

  @Override
  public InetAddressResolver get(Configuration configuration) {
    // Before the first address is kept: the JVM reads it only once.
    Security.setProperty("networkaddress.cache.ttl", "0");
    InetAddressResolver usual = configuration.builtinResolver();
    return new InetAddressResolver() {
      @Override
      public Stream<InetAddress> lookupByName(String host, LookupPolicy policy)
          throws UnknownHostException {
        if (host.equals(NAME)) {
          ASKED.countDown();
          waitForEver();
        }
        if (host.equals(MOVING)) {
          int before = MOVES.getAndIncrement();
          if (before == 0) {
            throw new Error(MOVING);
          }
          byte last = (byte) (before == 1 ? 2 : 1);
          return Stream.of(InetAddress.getByAddress(host, new byte[] {127, 0, 0, last}));
        }
        return usual.lookupByName(host, policy);
      }

      @Override
      public String lookupByAddress(byte[] address) throws UnknownHostException {
        return usual.lookupByAddress(address);
      }
    };
  }

  private static void waitForEver() throws UnknownHostException {
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException interrupted) {
      throw new UnknownHostException(NAME);
    }
  }

  @Override
  public String name() {
    return "slow";
  }
}
