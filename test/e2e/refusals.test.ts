import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { promptpress, type Said } from '../cli/test-io.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { type FakeService, startFakeService } from '../rig/fake-service.ts';
import { byStatus, type ManifestRow, readManifest } from '../rig/manifest.ts';
import { oneStep, write } from './pipelines.ts';

/**
 * How a service that refuses is met: exit codes, messages and counts. The command runs in this
 * process; what a process of its own adds is proven elsewhere.
 */
describe('a service that refuses', () => {
  let service: FakeService;
  beforeEach(async () => {
    service = await startFakeService();
  });
  afterEach(() => service.close());

  async function run(
    cells: number,
    options: {
      readonly key?: string;
      readonly url?: string;
      readonly more?: string;
      readonly flags?: readonly string[];
    } = {},
  ): Promise<Said & { readonly rows: readonly ManifestRow[] }> {
    await using folder = await temporaryFolder();
    await write(folder.path, { 'one.yaml': oneStep(cells, options.more) });
    const result = await promptpress(['run', 'one.yaml', ...(options.flags ?? [])], {
      cwd: folder.path,
      env: {
        PROMPTPRESS_BASE_URL: options.url ?? service.url,
        PROMPTPRESS_API_KEY: options.key ?? service.apiKey,
      },
    });
    return { ...result, rows: await readManifest(join(folder.path, 'runs/one/manifest.csv')) };
  }

  it('401 stops the run at once, exit 3, and says so without showing the key', async () => {
    const { code, err, rows } = await run(100, { key: 'a-wrong-key-0815' });
    expect(code, err).toBe(3);
    expect(err).toContain('401');
    expect(err).not.toContain('a-wrong-key-0815');
    expect(service.count('imagine')).toBeLessThanOrEqual(16);
    expect(byStatus(rows)).toEqual({ pending: 100 });
  });

  it('a redirect stops the run, exit 3, as a wrong base address, and is never followed', async () => {
    const { code, err } = await run(100, { url: `${service.url}/v1` });
    expect(code, err).toBe(3);
    expect(err).toMatch(/base address/i);
    expect(service.count('site')).toBe(0);
    expect(service.submits.all).toHaveLength(0);
  });

  it.each([200, 404])('HTML with status %i stops the run, exit 3', async (status) => {
    service.fault('imagine', { status, body: '<!doctype html><title>Welcome</title>' });
    const { code, err } = await run(100);
    expect(code, err).toBe(3);
    expect(err).toMatch(/base address/i);
    expect(service.count('imagine')).toBeLessThanOrEqual(16);
  });

  it.each([400, 403, 413])(
    '%i fails the job with the service’s message and request id, exit 1, and is not retried',
    async (status) => {
      service.fault(
        'imagine',
        {
          status,
          body: { error: { code: '', message: 'no good (request id: 20261101abc)', type: 'svc_api_error' } },
        },
        { match: ({ body }) => body?.['prompt'] === 'picture number 2' },
      );
      const { code, err, rows } = await run(3);
      expect(code, err).toBe(1);
      expect(service.count('imagine')).toBe(3);
      expect(byStatus(rows)).toEqual({ done: 2, failed: 1 });
      expect(rows[1]).toMatchObject({ request_id: '20261101abc', attempts: '1' });
      expect(rows[1]?.['error_message']).toContain('no good');
    },
  );

  it('twenty equal rejections in a row stop the run, exit 3, whatever their request ids', async () => {
    let n = 0;
    service.fault('imagine', () => ({
      status: 400,
      body: { error: { code: '', message: `no good (request id: r${n++})`, type: 'svc_api_error' } },
    }));
    const { code, err, rows } = await run(200, { more: 'service: { speed: fast }\n' });
    expect(code, err).toBe(3);
    expect(err).toContain('no good');
    expect(service.count('imagine')).toBeGreaterThanOrEqual(20);
    // What was already under way when the twentieth came.
    expect(service.count('imagine')).toBeLessThanOrEqual(20 + 16);
    expect(byStatus(rows)['pending']).toBeGreaterThanOrEqual(200 - 36);
  });

  it.each([408, 500, 502, 503, 504, 520, 521, 522, 523, 524])(
    '%i is retried on the service’s advice, each try counted',
    async (status) => {
      service.fault(
        'imagine',
        { status, body: { error: { code: '', message: 'try later', type: 'svc_api_error' } } },
        { times: 2 },
      );
      const { code, err, rows } = await run(1);
      expect(code, err).toBe(0);
      expect(service.count('imagine')).toBe(3);
      expect(rows[0]).toMatchObject({ status: 'done', attempts: '3' });
    },
  );

  it.each([
    [500, 5, 'in-doubt'],
    [504, 5, 'in-doubt'],
    [503, 1, 'failed'],
  ])('%i that stays ends the job after retry.attempts, exit %i: %s', async (status, exit, becomes) => {
    service.fault('imagine', {
      status,
      body: { error: { code: '', message: 'broken', type: 'svc_api_error' } },
    });
    const { code, rows } = await run(1);
    expect(code).toBe(exit);
    expect(service.count('imagine')).toBe(3);
    expect(rows[0]).toMatchObject({ status: becomes, attempts: '3', error_code: 'service.unavailable' });
  });

  it.each([500, 504, 524])(
    '%i with retry.ambiguous: hold is in doubt, exit 5, and not sent again',
    async (status) => {
      service.fault('imagine', {
        status,
        body: { error: { code: '', message: 'late', type: 'svc_api_error' } },
      });
      await using folder = await temporaryFolder();
      await write(folder.path, {
        'one.yaml': oneStep(1).replace('resubmits: 1', 'resubmits: 1, ambiguous: hold'),
      });
      const { code, err } = await promptpress(['run', 'one.yaml'], {
        cwd: folder.path,
        env: { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: service.apiKey },
      });
      expect(code, err).toBe(5);
      expect(service.count('imagine')).toBe(1);
    },
  );

  it('429 pauses the route and uses up no attempt', async () => {
    service.fault(
      'imagine',
      { status: 429, headers: { 'retry-after': '0' }, body: { error: { message: 'slow down' } } },
      { times: 8 },
    );
    const { code, err, rows } = await run(2);
    expect(code, err).toBe(0);
    expect(rows.map(({ attempts }) => attempts)).toEqual(['1', '1']);
    expect(service.submits.all).toHaveLength(2);
  });

  it('a route that only refuses for retry.patience stops the run, exit 3', async () => {
    service.fault('imagine', { status: 429, body: { error: { message: 'slow down' } } });
    const { code, err, rows } = await run(2);
    expect(code, err).toBe(3);
    expect(err).toContain('retry.patience');
    expect(byStatus(rows)).toEqual({ pending: 2 });
  });

  it('queue full (23) is later, not an attempt', async () => {
    service.fault('imagine', { code: 23, description: '队列已满，请稍后尝试' }, { times: 3 });
    const { code, err, rows } = await run(1);
    expect(code, err).toBe(0);
    expect(rows[0]).toMatchObject({ status: 'done', attempts: '1' });
  });

  it('a connection lost after the submission is in doubt: exit 5, one task, shown in the manifest', async () => {
    service.fault('imagine', { reset: 'after' }, { times: 1 });
    const { code, err, rows } = await run(2);
    expect(code, err).toBe(5);
    expect(service.submits.all).toHaveLength(2);
    expect(byStatus(rows)).toEqual({ done: 1, 'in-doubt': 1 });
    expect(err).toContain('--in-doubt retry');
  });

  it('400 with code 5 hides a time-out, and is in doubt', async () => {
    service.fault('imagine', {
      status: 400,
      body: { description: 'do_request_failed ', type: 'upstream_error', code: 5 },
    });
    const { code, rows } = await run(1);
    expect(code).toBe(5);
    expect(byStatus(rows)).toEqual({ 'in-doubt': 1 });
    expect(service.count('imagine')).toBe(1);
  });

  it('nobody listening is not an attempt; patience ends it with exit 3', async () => {
    const { url, apiKey } = service;
    await service.close();
    const { code, err, rows } = await run(1, { url, key: apiKey });
    expect(code, err).toBe(3);
    expect(rows[0]).toMatchObject({ status: 'pending' });
    service = await startFakeService();
  });
});
