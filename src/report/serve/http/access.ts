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

/** Who may ask a server: whoever has its token, by a name of this machine. */
export class Access {
  readonly token = randomBytes(32).toString('base64url');
  /** Cookies of one name are shared by all ports of a host: each server has a name of its own. */
  readonly #cookie = `promptpress-${randomBytes(6).toString('hex')}`;

  /**
   * Whether a request names this machine. A page of another origin can make a browser ask any address under its own name (DNS rebinding); what
   * `ssh -L` forwards comes with another port.
   */
  static isOwnHost(host: string | undefined): boolean {
    return /^(?:127\.0\.0\.1|localhost)(?::\d{1,5})?$/i.test(host ?? '');
  }

  /** Whether a text is the token; takes as long for any text. */
  isToken(text: string): boolean {
    return timingSafeEqual(digest(text), digest(this.token));
  }

  /** Whether a header of cookies has the token. */
  isGranted(cookies: string | undefined): boolean {
    return (cookies ?? '').split(';').some((cookie) => {
      const [name, value = ''] = cookie.trim().split('=', 2);
      return name === this.#cookie && this.isToken(value);
    });
  }

  /** The header that has a browser keep the token: no script sees it, and no other site makes the browser send it. */
  get setCookie(): string {
    return `${this.#cookie}=${this.token}; Path=/; HttpOnly; SameSite=Strict`;
  }
}

/** All of one length, as the comparison wants it. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
