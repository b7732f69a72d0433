import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What lies between a process and a server of 127.0.0.1, and can be cut. */
export interface Cable extends AsyncDisposable {
  /** The address of the server, over this cable. */
  through(url: string): string;
  /**
   * Until it is mended: `stall` lets no byte pass and tells nobody, and what was sent arrives afterwards; `reset` breaks every connection,
   * also each new one.
   */
  cut(how: 'stall' | 'reset'): void;
  mend(): void;
}

/** Both ends of a connection; no far one where it was made while the cable was cut. */
interface Line {
  readonly near: Socket;
  far?: Socket;
}

/**
 * @param port of the server
 * @param tap called once for each connection; what it gives back sees every byte that goes to the server
 */
export async function startCable(port: number, tap?: () => (chunk: Buffer) => void): Promise<Cable> {
  const lines = new Set<Line>();
  let state: 'whole' | 'stall' | 'reset' = 'whole';

  const end = (line: Line, socket: Socket): void => {
    socket.on('error', () => undefined);
    socket.once('close', () => {
      lines.delete(line);
      line.near.destroy();
      line.far?.destroy();
    });
  };
  const join = (line: Line): void => {
    const { near } = line;
    const far = connect({ port, host: '127.0.0.1', noDelay: true });
    line.far = far;
    end(line, far);
    const sees = tap?.();
    if (sees !== undefined) near.on('data', sees);
    near.pipe(far);
    far.pipe(near);
  };
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (near) => {
    if (state === 'reset') {
      near.on('error', () => undefined).resetAndDestroy();
      return;
    }
    const line: Line = { near };
    lines.add(line);
    end(line, near);
    if (state === 'whole') join(line);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const own = (server.address() as AddressInfo).port;
  return {
    through: (url) => {
      const to = new URL(url);
      to.port = String(own);
      return to.href;
    },
    cut: (how) => {
      state = how;
      for (const { near, far } of lines) {
        if (how === 'reset') {
          near.resetAndDestroy();
          far?.resetAndDestroy();
        } else {
          near.unpipe().pause();
          far?.unpipe().pause();
        }
      }
    },
    mend: () => {
      const wasStalled = state === 'stall';
      state = 'whole';
      if (!wasStalled) return;
      for (const line of lines) {
        const { near, far } = line;
        if (far === undefined) join(line);
        else {
          near.pipe(far);
          far.pipe(near);
        }
      }
    },
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      for (const { near, far } of lines) {
        near.destroy();
        far?.destroy();
      }
      await closed;
    },
  };
}
