import { once } from 'node:events';
import { existsSync } from 'node:fs';
import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { PageResult } from '../../../src/report/results/wire.ts';
import { useQuickSandbox } from '../../rig/quick-sandbox.ts';
import { ask, Served } from '../../rig/served.ts';
import { promptpress } from '../test-io.ts';

useQuickSandbox();

let cwd: string;
let served: Served;
const serve = async (...args: readonly string[]): Promise<void> => {
  served = await Served.open(cwd, 'run', ...args);
  await served.filled();
};
const image = async (): Promise<PageResult> => {
  const found = (await served.results({ steps: ['grid'] })).results.find(({ file }) => file !== undefined);
  if (found === undefined) throw new Error('no image');
  return found;
};

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
  await writeFile(
    join(cwd, 'foxes.yaml'),
    'name: foxes\nmatrix: { animal: [fox, "owl [fail:other]", Häre] }\nsteps:\n  grid: { imagine: "{{ animal }}" }\n  say: { generate: { model: text-pro, prompt: "{{ animal }}?" } }\n',
  );
  await promptpress(['run', 'foxes.yaml', '--sandbox', '--pace', '0.01', '--out', 'run'], { cwd });
});
afterAll(() => rm(cwd, { recursive: true, force: true }));
afterEach(async () => {
  await served.end();
});

describe('promptpress serve', () => {
  it('moves the token from the address into a cookie, and answers nobody without it', async () => {
    await serve();
    expect(served.token).toMatch(/^[\w-]{43}$/);
    const token = served.address.searchParams.get('token') ?? '';
    expect(token).not.toBe(served.token);
    const first = await served.ask(`/?token=${token}`);
    expect(first.status).toBe(303);
    expect(first.headers.location).toBe('./');
    expect(first.headers['set-cookie']).toEqual([
      expect.stringMatching(
        /^promptpress-[0-9a-f]{12}=[\w-]{43}; Path=\/[\w-]{22}\/; HttpOnly; SameSite=Strict$/,
      ),
    ]);
    const { status, body } = await served.get('/');
    expect([status, String(body)]).toEqual([200, expect.stringContaining('data-source="live"')]);
    expect(String(body)).not.toContain('promptpress:summary');
    expect(served.cookie).not.toContain(served.token);
    const name = served.cookie.split('=')[0] ?? '';
    for (const headers of [
      {},
      { cookie: `${name}=` },
      { cookie: `${name}=${'A'.repeat(43)}` },
      { cookie: `other=${served.token}` },
      { authorization: `Bearer ${served.token}` },
    ])
      for (const path of [
        '/',
        '/page.js',
        '/api/summary',
        '/api/events',
        `/files/${(await image()).file}`,
        '/?token=x',
      ])
        expect((await served.ask(path, headers)).status).toBe(401);
    expect((await served.ask(`/api/summary?token=${served.address.searchParams.get('token')}`)).status).toBe(
      401,
    );
    expect((await served.get('/', { cookie: `a=b; ${served.cookie}; c=d` })).status).toBe(200);
  });

  it('admits one browser per token: an address from its history opens nothing', async () => {
    await serve();
    const again = await served.ask(`/?token=${served.token}`);
    expect([again.status, again.headers['set-cookie']]).toEqual([401, undefined]);
    const own = await served.get(`/?token=${served.token}`);
    expect([own.status, own.headers.location, own.headers['set-cookie']]).toEqual([303, './', undefined]);
    expect(served.test.out().trim().split('\n')).toHaveLength(2);
    // A look at the head alone lets nobody in.
    expect((await served.ask(`/${served.address.search}`, {}, 'HEAD')).status).toBe(401);
    expect((await served.ask(`/${served.address.search}`)).status).toBe(303);
  });

  it('answers only below its path, even with the cookie, which browsers send to every port', async () => {
    await serve();
    for (const path of [
      '/',
      '/page.js',
      '/api/summary',
      '/favicon.ico',
      `/${served.address.search}`,
      served.base,
    ])
      expect([path, (await ask(served, path, { cookie: served.cookie })).status]).toEqual([path, 401]);
    expect((await served.get('/')).status).toBe(200);
  });

  it.runIf(process.platform === 'linux')(
    'listens on an address of its own where no port is given',
    async () => {
      await serve();
      const first = served.host;
      expect(first).toMatch(/^127(?:\.\d{1,3}){3}$/);
      await served.end();
      await serve();
      expect(new Set([first, served.host, '127.0.0.1']).size).toBe(3);
    },
  );

  it('refuses requests from other pages, even of this machine, and admits nobody by them', async () => {
    await serve();
    for (const [site, status] of [
      ['cross-site', 403],
      ['same-site', 403],
      ['same-origin', 200],
      ['none', 200],
    ] as const) {
      const { status: got } = await served.get('/api/summary', { 'sec-fetch-site': site });
      expect([site, got]).toEqual([site, status]);
    }
    const led = await served.ask(`/${served.address.search}`, { 'sec-fetch-site': 'cross-site' });
    expect([led.status, led.headers['set-cookie']]).toEqual([403, undefined]);
    expect((await served.ask(`/${served.address.search}`)).status).toBe(303);
  });

  it('answers only to host names of this machine, with any port of a tunnel', async () => {
    await serve();
    for (const host of [
      `${served.host}:${served.port}`,
      `127.0.0.1:${served.port}`,
      `localhost:${served.port}`,
      'localhost:8080',
      '127.0.0.1',
      'LOCALHOST:1',
    ])
      expect((await served.get('/', { host })).status).toBe(200);
    for (const host of [
      'evil.test',
      `evil.test:${served.port}`,
      '127.0.0.1.evil.test',
      'localhost.evil.test',
      '[::1]',
      '0.0.0.0',
      '127.0.0.2',
      'localhost:',
    ])
      expect([host, (await served.get('/', { host })).status]).toEqual([host, 403]);
    expect(
      (await served.ask(`/${served.address.search}`, { host: 'evil.test' })).headers['set-cookie'],
    ).toBeUndefined();
  });

  it('serves all files that the page names, and its icon', async () => {
    await serve();
    const page = String((await served.get('/')).body);
    const names = [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, name = '']) => name);
    expect(names.toSorted()).toEqual(['icon.svg', 'page.css', 'page.js']);
    const answers = await Promise.all(names.map((name) => served.get(`/${name}`)));
    expect(answers.map(({ status, headers }) => [status, headers['content-type']])).toEqual([
      [200, 'image/svg+xml'],
      [200, 'text/css; charset=utf-8'],
      [200, 'text/javascript; charset=utf-8'],
    ]);
  });

  it('answers the owner while others exceed the limit of connections, and keeps viewers connected', async () => {
    await serve();
    const viewer = await served.watch();
    const others: Socket[] = [];
    for (let n = 0; n < 520; n += 1) {
      const socket = connect(Number(served.port), served.host).on('error', () => {});
      others.push(socket);
      await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
      // Half a request, which is waited for.
      socket.write('GET / HTTP/1.1\r\n');
    }
    try {
      expect((await served.get('/')).status).toBe(200);
      expect(viewer.isOpen).toBe(true);
    } finally {
      for (const socket of others) socket.destroy();
      viewer.leave();
    }
  });

  it('is read-only: it refuses other methods, and sends security headers with every response', async () => {
    await serve();
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
      const { status, headers } = await served.get('/', {}, method);
      expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
    }
    const { file } = await image();
    for (const path of [
      '/',
      '/page.css',
      '/api/summary',
      `/files/${file}`,
      '/nothing',
      '/api/results?limit=x',
    ]) {
      const { headers } = await served.get(path, { origin: 'http://evil.test' });
      expect(headers).toMatchObject({
        'content-security-policy': expect.stringMatching(
          /^default-src 'none'; script-src 'self';.*frame-ancestors 'none'$/,
        ),
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
      });
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
    const head = await served.get(`/files/${file}`, {}, 'HEAD');
    expect([head.status, head.body.length, Number(head.headers['content-length']) > 0]).toEqual([
      200,
      0,
      true,
    ]);
  });

  it('serves only the files that results name', async () => {
    await serve();
    const { file = '' } = await image();
    const bytes = await readFile(join(cwd, 'run', file));
    const whole = await served.get(`/files/${file}`);
    expect([whole.status, whole.headers['content-type'], whole.body.equals(bytes)]).toEqual([
      200,
      'image/png',
      true,
    ]);
    const folder = file.slice(0, 'images/aa'.length);
    await writeFile(join(cwd, 'run', folder, `${folder.slice(-2)}00000000000000-1.png`), 'of no job');
    await writeFile(join(cwd, 'run', file.replace(/-1\.png$/, '-9.png')), 'of no result');
    for (const path of [
      '/files/',
      '/files/run.json',
      '/files/../run.json',
      '/files/images/../state.db',
      '/files/..%2f..%2fetc%2fpasswd',
      '/files/%2e%2e/%2e%2e/foxes.yaml',
      '/files//etc/passwd',
      '/files/images%5c..%5c..%5cfoxes.yaml',
      `/files/${file}%00.txt`,
      `/files/${folder}/${folder.slice(-2)}00000000000000-1.png`,
      `/files/${file.replace(/-1\.png$/, '-9.png')}`,
      '/thumbnails/../run.json',
      `/thumbnails/${'0'.repeat(64)}.webp`,
      `/thumbnails/1048576-${'0'.repeat(64)}.webp`,
      '/../foxes.yaml',
      '/index.html/../../x',
      '/%ff',
    ]) {
      const { status, body } = await served.get(path);
      expect([path, [400, 401, 404].includes(status ?? 0), String(body).length < 100]).toEqual([
        path,
        true,
        true,
      ]);
    }
    // A link in the place of a file leads nowhere.
    await unlink(join(cwd, 'run', file));
    await symlink(join(cwd, 'foxes.yaml'), join(cwd, 'run', file));
    expect((await served.get(`/files/${file}`)).status).toBe(404);
    await unlink(join(cwd, 'run', file));
    expect((await served.get(`/files/${file}`)).status).toBe(404);
    await writeFile(join(cwd, 'run', file), bytes);
  });

  it('serves ranges of files for video players', async () => {
    await serve();
    const { file = '' } = await image();
    const bytes = await readFile(join(cwd, 'run', file));
    const part = await served.get(`/files/${file}`, { range: 'bytes=10-19' });
    expect([part.status, part.headers['content-range'], part.body.equals(bytes.subarray(10, 20))]).toEqual([
      206,
      `bytes 10-19/${bytes.length}`,
      true,
    ]);
    const end = await served.get(`/files/${file}`, { range: 'bytes=-5' });
    expect([end.status, end.body.equals(bytes.subarray(-5))]).toEqual([206, true]);
    const beyond = await served.get(`/files/${file}`, { range: `bytes=${bytes.length}-` });
    expect([beyond.status, beyond.headers['content-range']]).toEqual([416, `bytes */${bytes.length}`]);
    const { etag = '' } = part.headers;
    expect((await served.get(`/files/${file}`, { 'if-none-match': etag })).status).toBe(304);
    expect((await served.get(`/files/${file}`, { 'if-range': '"other"', range: 'bytes=0-1' })).status).toBe(
      200,
    );
    expect((await served.get(`/files/${file}`, { 'if-range': etag, range: 'bytes=0-1' })).status).toBe(206);
  });

  it('answers filters, searches and sorts, and refuses invalid queries', async () => {
    await serve();
    const all = await served.results();
    expect([all.total, all.results.map(({ at }) => at)]).toEqual([6, [0, 1, 2, 3, 4, 5]]);
    expect((await served.results({ steps: ['say'] })).total).toBe(3);
    expect((await served.results({ statuses: ['failed'] })).results).toEqual([
      expect.objectContaining({ at: 2, step: 'grid', status: 'failed', errorCode: expect.any(String) }),
    ]);
    expect((await served.results({ vars: { animal: ['fox', 'Häre'] }, steps: ['grid'] })).total).toBe(2);
    expect((await served.results({ search: 'HARE' })).results.map(({ at }) => at)).toContain(4);
    expect((await served.results({ search: 'hare fox' })).total).toBe(0);
    const { job = '' } = all.results[4] ?? {};
    expect((await served.results({ jobs: [job] })).results.map(({ at }) => at)).toEqual([4]);
    expect(await served.json(`/api/of-job/${job}`)).toBe(4);
    expect(await served.json('/api/of-job/none')).toBeNull();
    expect(await served.json('/api/detail/4')).toMatchObject({ at: 4, lineage: [{ label: 'grid', at: 4 }] });
    expect((await served.get('/api/detail/6')).status).toBe(404);
    const newest = (await served.results({ sort: 'newest' })).results.map(({ finishedAt = 0 }) => finishedAt);
    expect(newest).toEqual([...newest].sort((a, b) => b - a));
    for (const path of [
      'q=[]',
      'q={',
      'q={"sort":"best"}',
      'q={"vars":{"a":1}}',
      'offset=-1',
      'limit=501',
      'limit=1e2',
    ])
      expect([path, (await served.get(`/api/results?${path}`)).status]).toEqual([path, 400]);
  });

  it('makes thumbnails in memory, and with those of the report where there is one', async () => {
    await serve();
    const { thumbnail = '' } = await image();
    const { status, headers, body } = await served.get(`/thumbnails/${thumbnail}`);
    expect([status, headers['content-type']]).toEqual([200, 'image/webp']);
    expect((await sharp(body).metadata()).width).toBeLessThanOrEqual(256);
    expect(existsSync(join(cwd, 'run/report'))).toBe(false);
    await served.end();
    await mkdir(join(cwd, 'run/report/thumbnails'), { recursive: true });
    await serve();
    expect((await served.get(`/thumbnails/${thumbnail}`)).body.equals(body)).toBe(true);
    expect((await readdir(join(cwd, 'run/report/thumbnails'), { recursive: true })).length).toBe(2);
    await rm(join(cwd, 'run/report'), { recursive: true });
    // An image that is not what was downloaded has none.
    const { file = '' } = await image();
    await served.end();
    await appendFile(join(cwd, 'run', file), 'x');
    await serve();
    expect((await served.get(`/thumbnails/${thumbnail}`)).status).toBe(404);
  });

  it('refuses a port that is taken, and exits with 0 when it is stopped', async () => {
    await serve('--port', '0');
    expect(served.host).toBe('127.0.0.1');
    const second = await promptpress(['serve', 'run', '--port', served.port], { cwd });
    expect([second.code, second.err]).toEqual([
      2,
      expect.stringContaining(`Port ${served.port} cannot be used`),
    ]);
    expect(second.err).toContain('--port; 0 takes any free one');
    served.test.interrupt('SIGTERM');
    expect(await served.running).toBe(0);
    await expect(served.get('/')).rejects.toThrow('ECONNREFUSED');
  });
});
