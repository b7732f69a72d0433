import type { Socket } from 'node:net';

/** Something threw while it handled an event of a connection. It belongs to that connection, and ends its request alone. */
export class BrokenConnection extends Error {
  readonly code = 'ERR_CONNECTION_BROKEN';

  constructor(cause: unknown) {
    super(`the connection was given up: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
    this.name = 'BrokenConnection';
  }
}

/** Bytes of one connection on their way to undici's parser. */
export interface SocketReading {
  /** Nothing more is read: what comes fills the socket's buffer, then the other side waits. */
  hold(): void;
  /** Goes on. Does nothing where it is not held. */
  release(): void;
}

/** The connection whose event is being handled. */
let current: SocketReading | undefined;

/**
 * The reading of the connection whose event is being handled; undefined outside of one. Undici handles what a connection brings within its
 * event, so this is the connection of a handler that it calls with a response or a piece of one.
 */
export const currentReading = (): SocketReading | undefined => current;

/**
 * Lets the reading of a connection be held, and keeps what its listeners throw from being nobody's.
 *
 * Undici 7 breaks when a connection ends while a response is paused: its parser asserts that it is not (nodejs/undici 5360). So a
 * parser is never paused. Held, the socket seems to have no bytes yet; it has no end either before these are read.
 *
 * @param socket on which nobody listens yet
 */
export function guardReading(socket: Socket): void {
  const read = socket.read.bind(socket);
  const emit = socket.emit.bind(socket) as (...event: unknown[]) => boolean;
  let isHeld = false;
  const reading: SocketReading = {
    hold: () => {
      isHeld = true;
    },
    release: () => {
      if (!isHeld) return;
      isHeld = false;
      // Not at once: the parser may be at work, and it is not to be entered again.
      queueMicrotask(() => {
        if (!isHeld && !socket.destroyed) socket.emit('readable');
      });
    },
  };
  // 0 is how Node itself looks for more.
  socket.read = (size?: number): unknown => (isHeld && size !== 0 ? null : read(size));
  socket.emit = (...event: unknown[]): boolean => {
    const before = current;
    current = reading;
    try {
      return event[0] === 'close' ? closed(socket, event.slice(1)) : emit(...event);
    } catch (error) {
      socket.destroy(new BrokenConnection(error));
      return true;
    } finally {
      current = before;
    }
  };
}

/** Tells every listener of the end of a connection, whatever another one throws: undici waits for it. */
function closed(socket: Socket, words: readonly unknown[]): boolean {
  const listeners = socket.rawListeners('close');
  for (const listener of listeners) {
    try {
      Reflect.apply(listener, socket, words);
    } catch {
      // There is nothing left to give up; a request that nobody has answered runs out of time.
    }
  }
  return listeners.length > 0;
}
