import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';

/** Connections at the same time, at most, on which nobody has shown the token yet: a browser shows it at once. */
export const mostStrangers = 64;

/** Connections on which nobody has shown the token. Beyond the bound the oldest is ended: another user of the machine shuts nobody out. */
export class Strangers {
  readonly #sockets = new Set<Socket>();

  add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    const [oldest] = this.#sockets;
    if (this.#sockets.size > mostStrangers) oldest?.destroy();
  }

  /** Somebody has shown the token on it. */
  admit(socket: Socket): void {
    this.#sockets.delete(socket);
  }
}

/**
 * Who may ask a server: a browser that opened the address with the token, by a name of this machine. The token lets one browser in, as it
 * stays in the history of that browser; then another token counts. The browser keeps a cookie.
 */
export class Access {
  /** All addresses begin with it. A browser sends a cookie to every port of a host, where another user may listen, but to no other path. */
  readonly path = `/${randomBytes(16).toString('base64url')}/`;
  #token = randomToken();
  readonly #cookie = `promptpress-${randomBytes(6).toString('hex')}`;
  readonly #secret = randomToken();

  get token(): string {
    return this.#token;
  }

  /**
   * Whether a request names this machine. A page of another origin can make a browser ask any address under its own name (DNS rebinding); what
   * `ssh -L` forwards comes with another port.
   *
   * @param own the address that the server listens on
   */
  static isOwnHost(host: string | undefined, own: string): boolean {
    const [, name = ''] = /^([\w.]+)(?::\d{1,5})?$/.exec(host ?? '') ?? [];
    return [own, '127.0.0.1', 'localhost'].includes(name.toLowerCase());
  }

  /**
   * Whether a browser asks for the user or for the page itself, and not for another page. One of another port of this machine counts as of the
   * same site for `SameSite`. Programs that are no browsers do not say.
   */
  static isOwnPage(site: string | undefined): boolean {
    return site === undefined || site === 'same-origin' || site === 'none';
  }

  /** Whether a text is the token, which is another one from then on. */
  enter(text: string): boolean {
    if (!isSame(text, this.#token)) return false;
    this.#token = randomToken();
    return true;
  }

  /** Whether a header of cookies has the one that {@link setCookie} gave. */
  isGranted(cookies: string | undefined): boolean {
    return (cookies ?? '').split(';').some((cookie) => {
      const [name, value = ''] = cookie.trim().split('=', 2);
      return name === this.#cookie && isSame(value, this.#secret);
    });
  }

  /** The header that lets a browser in from then on: no script sees it, and no other site makes the browser send it. */
  get setCookie(): string {
    return `${this.#cookie}=${this.#secret}; Path=${this.path}; HttpOnly; SameSite=Strict`;
  }
}

const randomToken = (): string => randomBytes(32).toString('base64url');

/** Takes as long for any text. */
const isSame = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));

/** All of one length, as the comparison wants it. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
