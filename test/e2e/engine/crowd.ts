import { type CliResult, type RunningCli, startCli } from '../../rig/cli.ts';

/** A process that ended by itself while it should have worked on. */
export interface GaveUp extends CliResult {
  readonly name: string;
}

/** How often, and after how long, a process is begun again that ended because its engine was away. */
const maxAgain = 30;
const againMs = 300;

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** One process of a run, which may be killed, stopped and started again. */
class Member {
  readonly name: string;
  readonly #begin: () => RunningCli;
  #running: RunningCli | undefined;
  #isStopped = false;
  #isKilled = false;
  /** How each start of it ended that was not killed, and that no service would begin again. */
  readonly ended: CliResult[] = [];
  /** What each start of it has said. */
  readonly lives: string[] = [];
  /** How often it was begun again because its engine was away. */
  again = 0;
  #isComingAgain = false;

  constructor(name: string, begin: () => RunningCli) {
    this.name = name;
    this.#begin = begin;
  }

  get isUp(): boolean {
    return this.#running !== undefined && !this.#isStopped && !this.#isKilled;
  }

  /** Resolves with how it ends; undefined: it was killed, or is not there. */
  async end(): Promise<CliResult | undefined> {
    for (;;) {
      const before = this.ended.length;
      const result = await this.#running?.done;
      if (result?.signal === 'SIGKILL') return undefined;
      // Its end is noted before, or it comes again.
      await pause(1);
      const isGone = result === undefined && this.#running === undefined && !this.#isComingAgain;
      if (this.ended.length > before || isGone) return this.ended.at(-1);
    }
  }

  /** Rejects where it ends before. */
  async said(text: RegExp): Promise<void> {
    await this.#running?.said(text);
  }

  /** What it says until it ends. */
  async words(): Promise<string> {
    return (await this.#running?.done)?.stderr ?? '';
  }

  start(): void {
    if (this.#running !== undefined) return;
    const running = this.#begin();
    this.#running = running;
    this.#isStopped = false;
    this.#isKilled = false;
    void this.#watch(running);
  }

  async #watch({ done }: RunningCli): Promise<void> {
    const result = await done;
    this.#running = undefined;
    this.lives.push(result.stderr);
    if (this.#isKilled) return;
    if (result.code !== 74 || this.again === maxAgain) {
      this.ended.push(result);
      return;
    }
    // What a service does with a process that found no engine.
    this.again += 1;
    this.#isComingAgain = true;
    await pause(againMs);
    this.#isComingAgain = false;
    if (!this.#isKilled) this.start();
  }

  signal(signal: NodeJS.Signals): void {
    if (signal === 'SIGSTOP') this.#isStopped = true;
    if (signal === 'SIGCONT') this.#isStopped = false;
    // One that is about to come again does not.
    if (signal === 'SIGKILL' || this.#running === undefined) this.#isKilled = true;
    this.#running?.child.kill(signal);
  }
}

export interface CrowdCommands {
  readonly coordinator: readonly string[];
  /** @param at counts workers from 1 */
  worker(name: string, at: number): { readonly args: readonly string[]; readonly cwd?: string };
}

/** The processes of one run: a coordinator, and workers. */
export class Crowd implements AsyncDisposable {
  /** The coordinator is the first. */
  readonly members: readonly Member[];
  readonly #timers = new Set<Promise<void>>();

  /** @param workers beside the coordinator */
  constructor(commands: CrowdCommands, workers: number, place: { cwd: string; env: Record<string, string> }) {
    this.members = [
      new Member('coordinator', () => startCli(commands.coordinator, place)),
      ...Array.from({ length: workers }, (_unused, at) => {
        const name = `worker-${at + 1}`;
        const { args, cwd = place.cwd } = commands.worker(name, at + 1);
        return new Member(name, () => startCli(args, { ...place, cwd }));
      }),
    ];
  }

  /** Whether there is anybody to whom something can be done. */
  get isUp(): boolean {
    return this.members.some(({ isUp }) => isUp);
  }

  get coordinator(): Member {
    return this.members[0] as Member;
  }

  /** Of the workers: that of the coordinator is the run's own. */
  get gaveUp(): readonly GaveUp[] {
    return this.members.slice(1).flatMap(({ name, ended }) => ended.map((end) => ({ name, ...end })));
  }

  /** The workers follow once the coordinator has made the tables. */
  async start(): Promise<void> {
    this.coordinator.start();
    await this.coordinator.said(/^Engine: /m);
    for (const member of this.members) member.start();
  }

  /** @returns whether there was anybody to do it to */
  kill(whom: number, forMs: number): boolean {
    const member = this.#oneFrom(whom);
    if (member === undefined) return false;
    member.signal('SIGKILL');
    this.later(forMs, async () => {
      await member.end();
      member.start();
    });
    return true;
  }

  /** @returns whether there was anybody to do it to */
  stop(whom: number, forMs: number): boolean {
    const member = this.#oneFrom(whom);
    if (member === undefined) return false;
    member.signal('SIGSTOP');
    this.later(forMs, () => {
      member.signal('SIGCONT');
      return Promise.resolve();
    });
    return true;
  }

  /** Resolves once everybody is at work again. */
  async whole(): Promise<void> {
    while (this.#timers.size > 0) await Promise.all(this.#timers);
  }

  /** Ends the workers as a user does. @returns how they ended */
  async dismiss(): Promise<readonly CliResult[]> {
    const ended: CliResult[] = [];
    for (const member of this.members.slice(1)) {
      const before = member.ended.length;
      member.signal('SIGTERM');
      await member.end();
      ended.push(...member.ended.splice(before));
    }
    return ended;
  }

  /** Kills everybody. @returns what they have said in their last lives */
  async silence(): Promise<string> {
    const said: string[] = [];
    for (const member of this.members) {
      member.signal('SIGKILL');
      said.push(`${member.name}: ${await member.words()}`);
    }
    return said.join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#timers);
    await this.silence();
  }

  /** The one that is meant, or the next that is up. */
  #oneFrom(whom: number): Member | undefined {
    const { members } = this;
    const order = [...members.slice(whom), ...members.slice(0, whom)];
    return order.find(({ isUp }) => isUp);
  }

  /** Does something after a time, which is waited for where everybody has to be at work again. */
  later(ms: number, work: () => Promise<void>): void {
    const timer = pause(ms)
      .then(work)
      .finally(() => this.#timers.delete(timer));
    this.#timers.add(timer);
  }
}
