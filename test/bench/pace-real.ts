import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCli, temporaryFolder } from '../rig/cli.ts';
import { limiters } from '../rig/limiters.ts';
import { serviceEnv } from '../rig/measured.ts';
import { type PaceSetting, pacedLoop, pacedRun, pipelineOf, servedIn } from '../rig/paced-run.ts';
import { after, atOnce, byChance, limited, only, PacedServer, refusals } from '../rig/paced-server.ts';
import { paceSituations } from '../rig/strangers/pace.ts';
import { type Line, linesBench } from './pace.ts';

const text = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'A fox.' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 },
};

/** The server of a setting on a socket, in this process. */
async function startServer({ rules, server }: PaceSetting) {
  const paced = new PacedServer({ ...server, rules: rules() });
  const startedAt = performance.now();
  const ends: number[] = [];
  const answerOf = (path: string, at: number): unknown => {
    const id = /task\/(\d+)\/fetch$/.exec(path)?.[1];
    if (id === undefined)
      return path.includes('/submit/')
        ? { code: 1, description: 'ok', result: String(ends.length + 1e15) }
        : text;
    const isDone = at >= (ends[Number(id) - 1e15 - 1] ?? 0);
    return {
      id,
      status: isDone ? 'SUCCESS' : 'IN_PROGRESS',
      progress: isDone ? '100%' : '50%',
      imageUrl: isDone ? 'https://images.example/1.png' : '',
      buttons: [],
    };
  };
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { url: path = '' } = request;
    const body = request.method === 'POST' ? await json(request) : undefined;
    const at = performance.now() - startedAt;
    const route = body === undefined ? 'poll' : path.includes('/submit/') ? 'submit' : 'text';
    const asked = paced.ask(
      route,
      /models\/([\w-]+)/.exec(path)?.[1] ?? route,
      JSON.stringify(body ?? path),
      at,
    );
    if (route === 'submit' && asked.refusal === undefined) ends.push(asked.workUntil);
    const { status = 200, body: said, headers = {} } = asked.refusal ?? {};
    const answer = said ?? answerOf(path, at);
    await sleep(asked.endsAt - at);
    if (typeof status !== 'number') return void response.destroy();
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(answer));
  };
  const server_ = createServer(
    (request, response) => void handle(request, response).catch(() => response.destroy()),
  );
  await new Promise<void>((resolve) => server_.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server_.address() as AddressInfo).port}`,
    paced,
    startedAt,
    close: (): void => {
      server_.close();
      server_.closeAllConnections();
    },
  };
}

const forMs = 25_000;

/** The built command against the server, for so long from its first request on. @returns rows served */
async function realRun(setting: PaceSetting): Promise<number> {
  const server = await startServer(setting);
  await using folder = await temporaryFolder();
  const limits = JSON.stringify({ tasks: 12, requests: 16, ...setting.limits });
  const more = `limits: ${limits}\nretry: { base: 1s, cap: 60s }\npoll: { min: 1s, max: 15s }\n`;
  await writeFile(join(folder.path, 'pipeline.yaml'), `${pipelineOf(setting)}${more}`);
  const run = startCli(['run', 'pipeline.yaml', '--out', 'out'], {
    cwd: folder.path,
    env: serviceEnv(server.url),
  });
  while (server.paced.log.length === 0 && run.child.exitCode === null) await sleep(20);
  await sleep(forMs);
  run.child.kill('SIGKILL');
  const { stderr } = await run.done;
  server.close();
  const { log } = server.paced;
  const from = log[0]?.at ?? 0;
  if (log.length === 0) throw new Error(stderr.slice(-1000));
  return servedIn(server.paced, 0, from + forMs);
}

/** The loop, in this process. @returns rows served */
async function realLoop(setting: PaceSetting): Promise<number> {
  const server = await startServer(setting);
  const { models = ['text-a'], work, jobs, limits } = setting;
  const until = performance.now() + forMs;
  let next = 0;
  const post = async (path: string): Promise<boolean> => {
    try {
      const response = await fetch(`${server.url}${path}`, { method: 'POST', body: '{}' });
      const { code = 1 } = (await response.json()) as { readonly code?: number };
      return response.ok && code === 1;
    } catch {
      return false;
    }
  };
  const worker = async (): Promise<void> => {
    while (next < jobs && performance.now() < until) {
      const path =
        work === 'images' ? '/submit/imagine' : `/models/${models[next++ % models.length]}:generateContent`;
      for (let tries = 1; performance.now() < until && !(await post(path)); tries += 1)
        await sleep(Math.random() * Math.min(60_000, 1000 * 2 ** (tries - 1)));
      // Its task, and a poll a second.
      if (work === 'images') await sleep(5500);
    }
  };
  const most = work === 'images' ? (limits?.tasks ?? 12) : (limits?.requests ?? 16);
  await Promise.race([Promise.all(Array.from({ length: most }, worker)), sleep(forMs + 1000)]);
  server.close();
  return servedIn(server.paced, 0, forMs);
}

const isText = ({ route }: { readonly route: string }): boolean => route === 'text';
const real: Readonly<Record<string, Omit<PaceSetting, 'untilMs'>>> = {
  'texts, 429 30 %': {
    work: 'texts',
    jobs: 3000,
    rules: () => [only(isText, byChance(0.3, refusals['429']))],
  },
  'texts, 503 50 %': {
    work: 'texts',
    jobs: 3000,
    rules: () => [only(isText, byChance(0.5, refusals['503']))],
  },
  'images, code 23 30 %': {
    work: 'images',
    jobs: 1000,
    rules: () => [only(({ route }) => route === 'submit', byChance(0.3, refusals['code 23']))],
  },
  'texts, sliding window 600/min': {
    work: 'texts',
    jobs: 3000,
    rules: () => [limited(limiters['sliding window']({ count: 600, perMs: 60_000 }))],
  },
  'texts, 2 at once, Retry-After: 1': {
    work: 'texts',
    jobs: 1000,
    rules: () => [atOnce(2, after(refusals['429'], 1))],
  },
  'texts, one of two models always 429': {
    work: 'texts',
    models: ['text-a', 'text-b'],
    jobs: 3000,
    rules: () => [only(({ kind }) => kind === 'text-b', byChance(1, refusals['429']))],
  },
};

async function* realLines(): AsyncGenerator<Line> {
  for (const [name, one] of Object.entries(real)) {
    const setting = { ...one, untilMs: forMs };
    const [run, loop] = await Promise.all([realRun(setting), realLoop(setting)]);
    yield {
      setting: name,
      run: `${run} in ${forMs / 1000} s`,
      loop: String(loop),
      ratio: run / loop,
      bound: '≥ 0.85 of the loop',
      holds: run >= 0.85 * loop,
    };
  }
}

async function* situations(): AsyncGenerator<Line> {
  for (const { name, setting, rows, withinS } of paceSituations) {
    const timed = { ...setting, untilMs: 240_000 };
    const [run, loop] = [await pacedRun(timed), pacedLoop(timed)].map((server) => {
      const ends = server.log
        .filter(({ route, refusal }) => (route === 'submit' || isText({ route })) && refusal === undefined)
        .map(({ endsAt }) => endsAt)
        .toSorted((a, b) => a - b);
      // Chance keeps the last of many back, for whoever asks.
      const lastS = (ends[Math.ceil(0.95 * rows) - 1] ?? Number.POSITIVE_INFINITY) / 1000;
      const by = [10, 60, 240].map((s) => ends.filter((at) => at <= 1000 * s).length);
      return {
        lastS,
        words: lastS < 240 ? `95 % in ${lastS.toFixed(1)} s` : `${by.join(', ')} in 10, 60, 240 s`,
      };
    }) as [{ lastS: number; words: string }, { lastS: number; words: string }];
    yield {
      setting: name,
      run: run.words,
      loop: loop.words,
      ratio: run.lastS / loop.lastS,
      bound: `≤ ${withinS} s`,
      holds: run.lastS <= withinS,
    };
  }
}

export const paceReal = {
  'pace-real': linesBench(
    `the same on sockets: the built command for ${forMs / 1000} s beside a loop`,
    realLines,
  ),
  'pace-situations': linesBench(
    'what slowed runs down: how soon all rows are served; virtual time',
    situations,
  ),
};
