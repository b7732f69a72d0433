import { describe, expect, it } from 'vitest';
import { Routes } from '../../../../src/run/scheduler/routes/routes.ts';
import { virtualSettings } from '../../../rig/virtual-run.ts';

const routesFor = (requests: number): Routes =>
  new Routes(
    virtualSettings({ limits: { tasks: 12, requests } }),
    new Map(),
    () => 0.5,
    () => 1,
  );

describe('the requests of a run', () => {
  it('are open to polls and submissions for a quarter, whatever downloads and text calls there are', () => {
    const routes = routesFor(8);
    for (let sent = 0; routes.hasRoom('text') && sent < 3; sent++) routes.onSent('text', 0);
    for (let sent = 0; routes.hasRoom('download') && sent < 99; sent++) routes.onSent('download', 0);
    expect([routes.queues.text.inFlight, routes.queues.download.inFlight]).toEqual([3, 3]);
    expect([routes.hasRoom('text'), routes.hasRoom('poll'), routes.hasRoom('submit')]).toEqual([
      false,
      true,
      true,
    ]);
    routes.onResult('download');
    expect(routes.hasRoom('text')).toBe(true);
  });

  it('are used by a text call where there is only one', () => {
    expect(routesFor(1).hasRoom('text')).toBe(true);
  });

  it('that cost are held together until one of them is answered', () => {
    const routes = routesFor(8);
    expect(routes.isSpending).toBe(false);
    routes.onSent('submit', 0);
    routes.hold('text');
    expect([routes.isSpending, routes.hasRoom('text'), routes.hasRoom('submit')]).toEqual([
      true,
      false,
      true,
    ]);
    routes.onResult('submit');
    expect(routes.hasRoom('text')).toBe(true);
  });
});
