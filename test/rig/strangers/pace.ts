import type { PaceSetting } from '../paced-run.ts';
import { after, allAt, atOnce, byChance, cutting, during, only, refusals } from '../paced-server.ts';

/** A server that was seen to slow a run down, or to stop it, where a loop went through. */
export interface PaceSituation {
  readonly name: string;
  /** Where it was seen. */
  readonly source: string;
  readonly setting: Omit<PaceSetting, 'untilMs'>;
  /** Rows that can be served. */
  readonly rows: number;
  /** What those are served in by who waits for nothing in vain, and half as much again, s. */
  readonly withinS: number;
}

const isPaid = ({ route }: { readonly route: string }): boolean => route === 'submit' || route === 'text';
const isPoll = ({ route }: { readonly route: string }): boolean => route === 'poll';
const quick = { lasts: { submit: 100, task: 500 } } as const;
const half = (refusal: keyof typeof refusals) => () => [only(isPaid, byChance(0.5, refusals[refusal]))];

export const paceSituations: readonly PaceSituation[] = [
  ...([0.1, 0.2, 0.3, 0.5] as const).flatMap((part) =>
    (['429', '503'] as const).map((how) => ({
      name: `120 submissions, of which ${100 * part} % are answered ${how} by chance`,
      source: 'pools of accounts of which some are full',
      setting: {
        work: 'images',
        jobs: 120,
        rules: () => [only(isPaid, byChance(part, refusals[how]))],
        server: quick,
        limits: { tasks: 40, requests: 64 },
      } as const,
      rows: 120,
      withinS: 15,
    })),
  ),
  {
    name: '300 texts, 64 at once, 10 % answered 429 with Retry-After: 1, 5 % 502',
    source: 'a shared account; curator and distilabel go through',
    setting: {
      work: 'texts',
      jobs: 300,
      rules: () => [byChance(0.1, after(refusals['429'], 1)), byChance(0.05, refusals['502'])],
      limits: { tasks: 12, requests: 64 },
    },
    rows: 300,
    withinS: 18,
  },
  ...(['code 23', 'code 9'] as const).map((how) => ({
    name: `60 grids and their U1 on two channels, of which one always says ${how}`,
    source: 'new-api with two channels',
    setting: { work: 'clicks', jobs: 60, rules: half(how), limits: { tasks: 12, requests: 32 } } as const,
    rows: 120,
    withinS: 90,
  })),
  ...(['429', '500'] as const).map((how) => ({
    name: `100 texts on two channels, of which one always says ${how}`,
    source: 'new-api with two channels',
    setting: {
      work: 'texts',
      jobs: 100,
      rules: half(how),
      limits: { tasks: 12, requests: 32 },
      // Each 500 is an attempt.
      retry: { attempts: 12 },
    } as const,
    rows: 100,
    withinS: 30,
  })),
  {
    name: '100 texts, two at once, told by 429 with Retry-After: 60 whatever is free',
    source: 'litellm, max_parallel_requests',
    setting: {
      work: 'texts',
      jobs: 100,
      rules: () => [atOnce(2, after(refusals['429'], 60))],
      server: { lasts: { text: 100 } },
      limits: { tasks: 12, requests: 32 },
    },
    rows: 100,
    // The first of them rests its kind for as long as it says.
    withinS: 90,
  },
  {
    name: '30 streams where another request cuts the one under way off',
    source: "llama.cpp's server with one slot",
    setting: {
      work: 'streams',
      jobs: 30,
      rules: () => [cutting(1)],
      server: { lasts: { text: 400 } },
      limits: { tasks: 12, requests: 32 },
    },
    rows: 30,
    withinS: 25,
  },
  {
    name: '400 texts of a healthy model beside one that is out of quota (always 429)',
    source: 'new-api, one model of a group used up',
    setting: {
      work: 'texts',
      models: ['text-a', 'text-b'],
      jobs: 800,
      rules: () => [only(({ kind }) => kind === 'text-b', byChance(1, refusals['429']))],
      limits: { tasks: 12, requests: 32 },
    },
    rows: 400,
    withinS: 25,
  },
  ...[1, 3, 7].map((seconds) => ({
    name: `600 texts, whose connections break at once after 5 s; the gateway is back ${seconds} s later`,
    source: 'a gateway that is restarted',
    setting: {
      work: 'texts',
      jobs: 600,
      rules: () => [allAt(5000, refusals.reset), during(5000, 5000 + 1000 * seconds, refusals.unreachable)],
      limits: { tasks: 12, requests: 16 },
    } as const,
    rows: 600,
    withinS: 50 + 2 * seconds,
  })),
  {
    name: '120 images, of which all twelve polls under way are answered 500 at two moments',
    source: 'a gateway that is restarted',
    setting: {
      work: 'images',
      jobs: 120,
      rules: () => [10_000, 20_000].map((at) => only(isPoll, allAt(at, refusals['500']))),
      server: { lasts: { poll: 3000 } },
      limits: { tasks: 12, requests: 32 },
    },
    rows: 120,
    withinS: 120,
  },
];
