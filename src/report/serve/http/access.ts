import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';

/** Largest number of open connections without a token. A browser sends the token at once. */
export const maxStrangers = 64;

/** Connections without a token so far. Beyond the bound the oldest is closed, so that other local users cannot block the server. */
export class Strangers {
  readonly #sockets = new Set<Socket>();

  add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    const [oldest] = this.#sockets;
    if (this.#sockets.size > maxStrangers) oldest?.destroy();
  }

  /** Accepts a connection that has sent the token. */
  admit(socket: Socket): void {
    this.#sockets.delete(socket);
  }
}

/**
 * Access control of the server. A browser must send the token once, to a host name of this machine; then it gets a cookie. Each token
 * lets one browser in and is then replaced, because it stays in the browser's history.
 */
export class Access {
  /** Prefix of all paths. Browsers send cookies to every port of a host, where other users may listen, but only below this path. */
  readonly path = `/${randomBytes(16).toString('base64url')}/`;
  #token = randomToken();
  readonly #cookie = `promptpress-${randomBytes(6).toString('hex')}`;
  readonly #secret = randomToken();

  get token(): string {
    return this.#token;
  }

  /**
   * Whether a `Host` header names this machine, which prevents DNS rebinding. The port may differ because of `ssh -L`.
   *
   * @param own the address that the server listens on
   */
  static isOwnHost(host: string | undefined, own: string): boolean {
    const [, name = ''] = /^([\w.]+)(?::\d{1,5})?$/.exec(host ?? '') ?? [];
    return [own, '127.0.0.1', 'localhost'].includes(name.toLowerCase());
  }

  /**
   * Whether a `Sec-Fetch-Site` header shows a request of the user or of this page. `SameSite` cookies alone do not separate ports of one
   * machine. Programs other than browsers send no such header.
   */
  static isOwnPage(site: string | undefined): boolean {
    return site === undefined || site === 'same-origin' || site === 'none';
  }

  /** Whether a text is the token. If it is, a new token replaces it. */
  enter(text: string): boolean {
    if (!isSame(text, this.#token)) return false;
    this.#token = randomToken();
    return true;
  }

  /** Whether a `Cookie` header contains the cookie of {@link setCookie}. */
  isGranted(cookies: string | undefined): boolean {
    return (cookies ?? '').split(';').some((cookie) => {
      const [name, value = ''] = cookie.trim().split('=', 2);
      return name === this.#cookie && isSame(value, this.#secret);
    });
  }

  /** The `Set-Cookie` header that lets a browser in. Scripts cannot read the cookie, and other sites cannot send it. */
  get setCookie(): string {
    return `${this.#cookie}=${this.#secret}; Path=${this.path}; HttpOnly; SameSite=Strict`;
  }
}

const randomToken = (): string => randomBytes(32).toString('base64url');

const isSame = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));

/** Digests have equal length, which `timingSafeEqual` requires. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
