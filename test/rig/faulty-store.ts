import type { RefusalCode } from '../../src/pipeline/diagnostics/run-codes.ts';
import { StateError, type Turn } from '../../src/state/store.ts';
import type { MemoryStore } from './memory-store.ts';

/** The process died: what a test throws where the power would have gone, to open the state again afterwards. */
export class Crash extends Error {
  constructor(write: number, when: 'before' | 'after') {
    super(`crash ${when} write ${write}`);
    this.name = 'Crash';
  }
}

/** What goes wrong at one write. */
export interface Fault {
  /** Counts from 1 over `commit`, `setFact`, `acceptMissing` and `rememberInputFile`. */
  readonly at: number;
  /**
   * A StateError code: the write fails and changes nothing. `crash-before`: the process dies and the write is lost.
   * `crash-after`: the write is durable, and the process dies before it knows.
   */
  readonly fault: Extract<RefusalCode, `state.${string}`> | 'crash-before' | 'crash-after';
  /** The fault stays for every later write, as a full disk does; a crash always stays. */
  readonly lasting?: boolean;
}

/** A store whose writes can be counted and made to fail. */
export interface FaultyStore extends MemoryStore {
  /** Writes asked for so far, failed ones included. */
  readonly writes: number;
  /** Turns that reached the store beneath, in order. */
  readonly turns: readonly Turn[];
}

/** Wraps a store so that chosen writes fail. Reading works until a crash; after one, every call throws it. */
export function faultyStore(store: MemoryStore, faults: readonly Fault[] = []): FaultyStore {
  let writes = 0;
  let crash: Crash | undefined;
  const turns: Turn[] = [];

  const alive = (): MemoryStore => {
    if (crash !== undefined) throw crash;
    return store;
  };
  const write = (work: (inner: MemoryStore) => void): void => {
    const inner = alive();
    writes += 1;
    const due = faults.find((fault) => (fault.lasting === true ? writes >= fault.at : writes === fault.at));
    if (due === undefined) {
      work(inner);
      return;
    }
    switch (due.fault) {
      case 'crash-before':
        crash = new Crash(writes, 'before');
        throw crash;
      case 'crash-after':
        work(inner);
        crash = new Crash(writes, 'after');
        throw crash;
      default:
        throw new StateError(due.fault, `Injected ${due.fault} at write ${writes}.`);
    }
  };

  const faulty: FaultyStore = {
    get writes() {
      return writes;
    },
    turns,
    get reader() {
      return alive().reader;
    },
    get: (key) => alive().get(key),
    unfinished: () => alive().unfinished(),
    withStatus: (status, code) => alive().withStatus(status, code),
    submissions: () => alive().submissions(),
    redoCounts: () => alive().redoCounts(),
    totals: () => alive().totals(),
    attempts: (key) => alive().attempts(key),
    claims: (record) => alive().claims(record),
    get redos() {
      return alive().redos;
    },
    inputFile: (path) => alive().inputFile(path),
    fact: (name) => alive().fact(name),
    commit: (turn) => {
      write((inner) => {
        inner.commit(turn);
        turns.push(turn);
      });
    },
    keepReply: (job, reply) => alive().keepReply(job, reply),
    makeRoom: () => alive().makeRoom(),
    releaseRoom: () => alive().releaseRoom(),
    cutReplies: () => alive().cutReplies(),
    commitSoon: (turn) => faulty.commit(turn),
    countSubmissions: () => alive().countSubmissions(),
    acceptMissing: () => {
      write((inner) => inner.acceptMissing());
    },
    setFact: (name, value) => {
      write((inner) => inner.setFact(name, value));
    },
    rememberInputFile: (file) => {
      write((inner) => {
        inner.rememberInputFile(file);
      });
    },
    // A dead process closes nothing; the test closes the store beneath before it opens it again.
    close: () => {
      if (crash === undefined) store.close();
    },
  };
  return faulty;
}
