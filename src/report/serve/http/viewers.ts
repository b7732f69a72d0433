import type { ServerResponse } from 'node:http';
import { sendText, writeHead } from './answer.ts';

/** Largest number of connected viewers. */
export const maxViewers = 64;

/** Bytes that a viewer may leave unread before it is disconnected; its page reconnects. */
const maxUnread = 2 * 1024 * 1024;

/** Ticks (of half a second) between two heartbeats, fewer than the timeouts of proxies. */
const beatTicks = 30;

/** The connected viewers, which receive changes as server-sent events. */
export class Viewers {
  readonly #viewers = new Set<ServerResponse>();
  #ticks = 0;

  get count(): number {
    return this.#viewers.size;
  }

  /** Adds a viewer and sends it the summary, because it may have missed events. */
  add(response: ServerResponse, summary: string): void {
    if (this.#viewers.size >= maxViewers) {
      sendText(response, 503, `More than ${maxViewers} viewers; close one of them.`, { 'retry-after': 10 });
      return;
    }
    writeHead(response, 200, { 'content-type': 'text/event-stream' });
    if (response.req.method === 'HEAD') {
      response.end();
      return;
    }
    this.#viewers.add(response);
    const leave = (): void => {
      this.#viewers.delete(response);
    };
    response.on('close', leave);
    response.on('error', leave);
    response.write(changed(summary));
  }

  /** Sends changes and heartbeats; call it twice a second. @param summary the changed summary; absent if nothing changed */
  tick(summary: string | undefined): void {
    this.#ticks += 1;
    if (summary !== undefined) this.#write(changed(summary));
    else if (this.#ticks % beatTicks === 0) this.#write(': still here\n\n');
  }

  close(): void {
    for (const viewer of this.#viewers) viewer.end();
    this.#viewers.clear();
  }

  #write(text: string): void {
    for (const viewer of this.#viewers) {
      if (viewer.writableLength > maxUnread) {
        this.#viewers.delete(viewer);
        viewer.destroy();
      } else viewer.write(text);
    }
  }
}

/** The event fits on one line, because the JSON has no line breaks. */
const changed = (summary: string): string => `event: changed\ndata: ${summary}\n\n`;
