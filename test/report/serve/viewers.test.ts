import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { Viewers } from '../../../src/report/serve/http/viewers.ts';

/** A viewer that reads nothing from some moment on. */
class FakeResponse extends EventEmitter {
  readonly req = { method: 'GET' };
  readonly written: string[] = [];
  isReading = true;
  isDestroyed = false;
  writableLength = 0;

  writeHead(): void {}

  write(text: string): void {
    this.written.push(text);
    if (!this.isReading) this.writableLength += text.length;
  }

  end(): void {
    this.destroy();
  }

  destroy(): void {
    this.isDestroyed = true;
    this.emit('close');
  }
}

describe('viewers', () => {
  it('are disconnected when they read nothing, before much is buffered for them', () => {
    const viewers = new Viewers();
    const [slow, quick] = [new FakeResponse(), new FakeResponse()];
    for (const response of [slow, quick]) viewers.add(response as unknown as ServerResponse, '{}');
    slow.isReading = false;
    const summary = JSON.stringify({ text: 'x'.repeat(300_000) });
    for (let tick = 0; tick < 20; tick += 1) viewers.tick(summary);
    expect([slow.isDestroyed, quick.isDestroyed, viewers.count]).toEqual([true, false, 1]);
    expect(slow.writableLength).toBeLessThan(3 * 1024 * 1024);
    expect(quick.written.length).toBe(21);
  });

  it('get a heartbeat every fifteen seconds if nothing changes', () => {
    const viewers = new Viewers();
    const viewer = new FakeResponse();
    viewers.add(viewer as unknown as ServerResponse, '{}');
    for (let tick = 0; tick < 60; tick += 1) viewers.tick(undefined);
    expect(viewer.written.slice(1)).toEqual([': still here\n\n', ': still here\n\n']);
  });
});
