import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The error for a name or an address that image links may not lead to. */
export class AddressError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'AddressRefused';
  }
}

/**
 * Where an image link may lead: to a public address, or to the host name of the service's base address, on any port if that is another
 * machine. On this machine only the base address itself is allowed, because nothing else here serves images. The service chooses the
 * link, so it is not trusted.
 */
export interface AddressRule {
  /**
   * Returns the address at the service for a link that names this machine but means the service: the same path at the origin of the
   * base address. New-api gives `http://localhost:3000/mj/image/ID` until it is told its own address. Undefined: the link means what it
   * says.
   */
  atService(link: URL): URL | undefined;
  /** Origin of the base address: a path that the service gave in place of a link belongs to it. */
  readonly origin: string;
  /** Returns why a link may not even be tried: its scheme, its credentials, or an address that is not public. */
  forbiddenReason(url: URL): string | undefined;
  /**
   * Resolves names for a connection to an origin, without the addresses that are not allowed there. The connection uses this result and
   * no later look-up, so that a name cannot change its meaning in between (DNS rebinding).
   */
  lookupFor(origin: string | URL): LookupFunction;
  /**
   * Judges a link that a proxy will resolve, by its name alone and before the request. How the proxy then resolves the name is the
   * proxy's responsibility; a name that only the proxy can resolve is allowed.
   */
  proxiedForbiddenReason(url: URL): Promise<string | undefined>;
}

/** Returns the rule for a service. `lookup` is `dns.lookup` unless a test replaces it. */
export function addressRule(baseUrl: string, lookup: LookupFunction = systemLookup): AddressRule {
  const base = new URL(baseUrl);
  const ownHost = hostOf(base);
  const isBase = (url: URL): boolean => url.origin === base.origin;

  const forbiddenReason = (url: URL): string | undefined => {
    const reason = unlikeLink(url);
    if (reason !== undefined || isBase(url)) return reason;
    const host = hostOf(url);
    if (isLoopback(host)) return `${url.host} is this machine, and not the base address`;
    if (host === ownHost || isIP(host) === 0) return undefined;
    return isPublic(host) ? undefined : `${host} is not a public address`;
  };

  const lookupFor: AddressRule['lookupFor'] = (origin) => (hostname, options, callback) => {
    const isOwn = plainName(hostname) === ownHost;
    if (isOwn && isBase(new URL(origin))) {
      lookup(hostname, options, callback);
      return;
    }
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) {
        callback(error, '');
        return;
      }
      const isAllowed = isOwn ? (address: string): boolean => !isLoopback(address) : isPublic;
      const allowed = Array.isArray(found) ? found.filter(({ address }) => isAllowed(address)) : [];
      const [first] = allowed;
      if (first === undefined) {
        const why = isOwn ? 'is this machine, on another port' : 'has no public address';
        callback(new AddressError(`${hostname} ${why}`), '');
      } else if (options.all === true) {
        callback(null, allowed);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };

  return {
    atService: (link) =>
      // Joined as text: a path may begin with two slashes, and would then name a host.
      isBase(link) || !isLoopback(hostOf(link)) || unlikeLink(link) !== undefined
        ? undefined
        : new URL(`${base.origin}${link.pathname}${link.search}`),
    origin: base.origin,
    forbiddenReason,
    lookupFor,
    proxiedForbiddenReason: async (url) => {
      const reason = forbiddenReason(url);
      const host = hostOf(url);
      if (reason !== undefined || isBase(url) || isIP(host) !== 0) return reason;
      if (host !== ownHost && isLocalName(host)) return `${host} is a name of a local network`;
      return new Promise((resolve) => {
        lookupFor(url)(host, { all: true }, (error) => {
          resolve(error instanceof AddressError ? error.message : undefined);
        });
      });
    },
  };
}

/** Returns why a link cannot lead to a file, wherever it leads. */
function unlikeLink({ protocol, username, password }: URL): string | undefined {
  if (protocol !== 'https:' && protocol !== 'http:') return `it is a ${protocol} link`;
  return username !== '' || password !== '' ? 'it carries credentials' : undefined;
}

/** Whether a name has a meaning on one machine or one network only (RFC 6761, 6762, 8375; `internal` by ICANN). */
function isLocalName(host: string): boolean {
  return !host.includes('.') || /\.(localhost|local|internal|home\.arpa|lan|test|invalid)$/.test(host);
}

/** Whether a host is this machine (RFC 6761 6.3; 0.0.0.0 and :: lead there too). */
const isLoopback = (host: string): boolean => {
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  if (!ipaddr.isValid(host)) return false;
  return ['loopback', 'unspecified'].includes(ipaddr.process(host).range());
};

/** Returns the host in comparable form: lower case (`URL` ensures that), no brackets, no final dot. */
const hostOf = (url: URL): string => plainName(url.hostname);

const plainName = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');

/**
 * Whether an address is public. An IPv6 address that stands for an IPv4 one (mapped, or through NAT64, which networks without IPv4 use
 * for the whole internet) is judged as that one.
 */
export function isPublic(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4) return isPublicIpv4(address);
  const { parts } = address;
  const embedsIpv4 =
    address.isIPv4MappedAddress() ||
    (parts[0] === 0x64 && parts[1] === 0xff9b && parts.slice(2, 6).every((part) => part === 0));
  if (embedsIpv4) return isPublicIpv4(new ipaddr.IPv4(address.toByteArray().slice(12)));
  // All public IPv6 lies in 2000::/3; the ranges within it that are not are known to ipaddr.js.
  return ((parts[0] ?? 0) & 0xe000) === 0x2000 && address.range() === 'unicast';
}

/** Whether an IPv4 address is public. 168.63.129.16 is not: in Azure it is the machine's own host, which gives out secrets. */
const isPublicIpv4 = (address: ipaddr.IPv4): boolean =>
  address.range() === 'unicast' && address.toString() !== '168.63.129.16';
