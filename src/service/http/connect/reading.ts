import type { Socket } from 'node:net';

/** The error of a connection whose event handler threw. It ends the request of that connection only. */
export class BrokenConnection extends Error {
  readonly code = 'ERR_CONNECTION_BROKEN';

  constructor(cause: unknown) {
    super(`the connection was given up: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
    this.name = 'BrokenConnection';
  }
}

/** Reading of the bytes of one connection, on their way to undici's parser. */
export interface SocketReading {
  /** Pauses the reading: arriving bytes fill the socket's buffer, then the other side waits. */
  hold(): void;
  /** Resumes the reading. Does nothing if it is not paused. */
  release(): void;
}

/** The connection whose event is being handled. */
let current: SocketReading | undefined;

/**
 * Returns the reading of the connection whose event is being handled; undefined outside of an event. Undici handles the bytes of a
 * connection within its event, so this is the connection of a handler that it calls with a response or a chunk of one.
 */
export const currentReading = (): SocketReading | undefined => current;

/**
 * Makes the reading of a connection pausable, and assigns errors that its listeners throw to that connection.
 *
 * Undici 7 breaks when a connection ends while a response is paused: its parser asserts that it is not (nodejs/undici 5360). So the
 * parser is never paused: a paused socket seems to have no bytes yet, and no end before these are read.
 *
 * @param socket that has no listeners yet
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
      // Not at once: the parser may be running, and must not be entered again.
      queueMicrotask(() => {
        if (!isHeld && !socket.destroyed) socket.emit('readable');
      });
    },
  };
  // Node itself passes 0 to look for more.
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

/** Tells every listener that the connection has ended, even if another one throws: undici waits for that. */
function closed(socket: Socket, words: readonly unknown[]): boolean {
  const listeners = socket.rawListeners('close');
  for (const listener of listeners) {
    try {
      Reflect.apply(listener, socket, words);
    } catch {
      // There is nothing left to close; a request without an answer runs out of time.
    }
  }
  return listeners.length > 0;
}
