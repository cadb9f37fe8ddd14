package tollbooth.telemetry.recorder;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.net.spi.InetAddressResolver;
import java.net.spi.InetAddressResolverProvider;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;

/** Never finds one name, without an error either. All others are looked up as usual. */
public final class SlowResolver extends InetAddressResolverProvider {

  static final String NAME = "slow.test";
  static final CountDownLatch ASKED = new CountDownLatch(1);

  @Override
  public InetAddressResolver get(Configuration configuration) {
    InetAddressResolver usual = configuration.builtinResolver();
    return new InetAddressResolver() {
      @Override
      public Stream<InetAddress> lookupByName(String host, LookupPolicy policy)
          throws UnknownHostException {
        if (host.equals(NAME)) {
          ASKED.countDown();
          waitForEver();
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
