import type { ServerResponse } from 'node:http';
import { sendText, writeHead } from './answer.ts';

/** Viewers at the same time, at most. */
export const mostViewers = 64;

/** A viewer who has left so many bytes unread is dropped; its page connects again. */
const mostUnread = 2 * 1024 * 1024;

/** Ticks between two signs of life, half a second each: shorter than what any proxy waits. */
const beatTicks = 30;

/** Those who watch: each is told of changes over server-sent events. */
export class Viewers {
  readonly #viewers = new Set<ServerResponse>();
  #ticks = 0;

  get count(): number {
    return this.#viewers.size;
  }

  /** Takes a viewer on, and tells it the summary, as it may have missed some. */
  add(response: ServerResponse, summary: string): void {
    if (this.#viewers.size >= mostViewers) {
      sendText(response, 503, `More than ${mostViewers} viewers; close one of them.`, { 'retry-after': 10 });
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

  /** To be called twice a second. @param summary what changed; absent: nothing */
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
      if (viewer.writableLength > mostUnread) {
        this.#viewers.delete(viewer);
        viewer.destroy();
      } else viewer.write(text);
    }
  }
}

/** A text of JSON has no line breaks. */
const changed = (summary: string): string => `event: changed\ndata: ${summary}\n\n`;
