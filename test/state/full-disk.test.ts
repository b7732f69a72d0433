import fs from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { reserveFileName, reserveIn } from '../../src/state/files/reserve.ts';
import { repliesFolder } from '../../src/state/files/segment-files.ts';
import { openState } from '../../src/state/state.ts';
import { StateError, type StateStore, type Turn, UnkeptReplies } from '../../src/state/store.ts';
import { textRecord } from '../rig/jobs.ts';
import { replaceFs, systemError } from '../rig/replace-fs.ts';
import { around } from './noting-driver.ts';
import { drivers, freshFolder } from './places.ts';
import { jobRecord } from './records.ts';

const [driver = drivers[0]] = drivers;
const sends = (...keys: readonly string[]): Turn => ({
  records: keys.map((key) => jobRecord(key, 'submitting')),
  attempts: [],
  submits: keys.length,
});
const answers = (...keys: readonly string[]): Turn => ({
  records: keys.map((key) => jobRecord(key, 'running', { taskId: `task of ${key}` })),
  attempts: [],
});

/** How much of the disk the reserve of a directory holds, in bytes; its growth meets a bound. */
function watchReserve() {
  const sizes = new Map<number, number>();
  const { openSync, writeSync, closeSync } = fs;
  const watched = {
    most: Number.POSITIVE_INFINITY,
    code: 'ENOSPC',
    get held() {
      return [...sizes.values()].reduce((sum, size) => sum + size, 0);
    },
    onClose: () => {},
  };
  replaceFs({
    openSync: (path: string, flags: fs.OpenMode, mode?: fs.Mode) => {
      const file = openSync(path, flags, mode);
      if (basename(path) === 'reserve') sizes.set(file, 0);
      return file;
    },
    writeSync: (file: number, bytes: Uint8Array, from: number, length: number, at: number) => {
      const size = sizes.get(file);
      if (size === undefined) return writeSync(file, bytes, from, length, at);
      if (watched.held + length > watched.most) throw systemError(watched.code, 'write');
      sizes.set(file, size + length);
      return writeSync(file, bytes, from, length, at);
    },
    closeSync: (file: number) => {
      if (sizes.delete(file)) watched.onClose();
      closeSync(file);
    },
  });
  return watched;
}

const failureOf = async (work: () => void | Promise<void>): Promise<StateError | undefined> => {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof StateError) return error;
    throw error;
  }
};

const MiB = 1024 * 1024;

describe('room for answers', () => {
  it('is held from the first submission on, grows with the requests in flight, and has no name', async () => {
    const reserve = watchReserve();
    const folder = freshFolder();
    const state = openState(folder);
    expect(reserve.held).toBe(0);
    state.commit(sends('a'));
    const first = reserve.held;
    expect(first).toBeGreaterThanOrEqual(MiB);
    state.commit(sends(...Array.from({ length: 40 }, (_, n) => `b${n}`)));
    expect(reserve.held).toBeGreaterThanOrEqual(first + MiB);
    expect(await readdir(folder)).not.toContain('reserve');
    state.close();
    expect(reserve.held).toBe(0);
  });

  it('is held even where a killed process has left the name of its file', async () => {
    const folder = freshFolder();
    fs.writeFileSync(join(folder, reserveFileName), 'left');
    const reserve = reserveIn(folder);
    reserve.hold(MiB);
    expect(await readdir(folder)).toEqual([]);
    reserve.close();
  });

  it('is never given up to the last part, which closing the state needs', () => {
    const watched = watchReserve();
    const reserve = reserveIn(freshFolder());
    expect(reserve.yield()).toBe(false);
    reserve.hold(MiB);
    while (reserve.yield()) expect(watched.held).toBeGreaterThan(0);
    expect(watched.held).toBe(MiB / 4);
    reserve.hold(MiB);
    expect(watched.held).toBe(MiB);
    reserve.close();
    expect(watched.held).toBe(0);
  });

  it.each(['ENOSPC', 'EDQUOT'])(
    'that is missing after %s stops all sending, and is reported with figures',
    async (code) => {
      const reserve = watchReserve();
      const folder = freshFolder();
      const state = openState(folder);
      reserve.most = 600_000;
      reserve.code = code;
      const failure = await failureOf(() => state.commitSoon(sends('a')));
      expect(failure?.code).toBe('state.full');
      expect(failure?.message).toContain(
        '1,081 KB are kept free for the answers to what is sent, and there is room for 524 KB',
      );
      expect([state.get('a'), reserve.held]).toEqual([undefined, 0]);
      // What sends nothing needs none.
      state.commit({ ...sends('c'), submits: 0 });
      expect(state.get('c')?.status).toBe('submitting');
      state.close();
    },
  );

  it('stays held if it cannot grow: requests in flight can be recorded', async () => {
    const reserve = watchReserve();
    const state = openState(freshFolder());
    state.commit(sends('a'));
    const { held } = reserve;
    reserve.most = held + MiB / 2;
    const more = sends(...Array.from({ length: 40 }, (_, n) => `b${n}`));
    expect((await failureOf(() => state.commitSoon(more)))?.code).toBe('state.full');
    expect(reserve.held).toBe(held);
    state.close();
  });

  /** A disk that is full until some of the room is given up. */
  const fullAfter = async (
    write: (state: StateStore) => void | Promise<void>,
    fail: (isFull: () => boolean) => Parameters<typeof openState>[1],
  ): Promise<{
    readonly failure: StateError | undefined;
    readonly state: StateStore;
    readonly given: number;
  }> => {
    const reserve = watchReserve();
    let isFull = false;
    const state = openState(
      freshFolder(),
      fail(() => isFull),
    );
    await state.commitSoon(sends('a', 'b'));
    const before = reserve.held;
    isFull = true;
    reserve.most = 0;
    reserve.onClose = () => {
      // The probe alone gives nothing up.
      if (reserve.held < before) isFull = false;
    };
    const failure = await failureOf(() => write(state));
    return { failure, state, given: before - reserve.held };
  };
  const sqlite = (isFull: () => boolean, errcode: number) => ({
    ...(driver && {
      driver: around(driver, {
        exec: (sql) => {
          if (sql === 'COMMIT' && isFull())
            throw Object.assign(new Error('it failed'), { code: 'ERR_SQLITE_ERROR', errcode });
          return undefined;
        },
      }),
    }),
  });

  it.each([
    ['the state', 13],
    ['the state, at the end of its quota', 778],
  ])('is partly freed if an answer finds none in %s', async (_, errcode) => {
    const { failure, state, given } = await fullAfter(
      (store) => store.commitSoon(answers('a')) ?? undefined,
      (isFull) => sqlite(isFull, errcode),
    );
    expect([failure, state.get('a')?.taskId]).toEqual([undefined, 'task of a']);
    expect(given).toBe(MiB / 4);
    state.close();
  });

  it('is freed if a reply finds none in its file', async () => {
    const { writevSync } = fs;
    let isFull = (): boolean => false;
    replaceFs({
      writevSync: (file: number, pieces: readonly Uint8Array[], at: number) => {
        if (isFull()) throw systemError('ENOSPC', 'write');
        return writevSync(file, pieces, at);
      },
    });
    const { failure, state } = await fullAfter(
      async (store) => {
        store.keepReply('a', '{"text":"It is a fox."}');
        await store.commitSoon(answers('a'));
      },
      (full) => {
        isFull = full;
        return {};
      },
    );
    expect([failure, state.get('a')?.taskId]).toEqual([undefined, 'task of a']);
    const written = fs.readFileSync(join(state.file ?? '', '..', repliesFolder, '00000.jsonl'), 'utf8');
    expect(written).toBe('{"job":"a","reply":{"text":"It is a fox."}}\n');
    state.close();
  });

  it('is not freed for a turn that sends more', async () => {
    const { failure, state, given } = await fullAfter(
      (store) => store.commitSoon(sends('c')) ?? undefined,
      (isFull) => sqlite(isFull, 13),
    );
    expect([failure?.code, state.get('c'), given]).toEqual(['state.full', undefined, 0]);
    state.close();
  });
});

describe('replies that cannot be written', () => {
  const heard = (store: StateStore): Turn => {
    const reply = store.keepReply('text', '{"text":"It is a fox."}');
    const said = { candidates: [{ text: 'It is a fox.', isJson: false, parts: [] }], reply };
    return {
      records: [
        jobRecord('image', 'running', { taskId: 'T' }),
        textRecord({ key: 'text', status: 'done', text: said }),
      ],
      attempts: [],
    };
  };
  const open = (): StateStore => {
    replaceFs({
      writevSync: () => {
        throw systemError('EIO', 'write');
      },
    });
    return openState(freshFolder());
  };

  it('do not hold up a turn that sends nothing: its texts refer to no reply', async () => {
    const state = open();
    const failure = await failureOf(() => state.commitSoon(heard(state)));
    expect(failure).toBeInstanceOf(UnkeptReplies);
    expect(failure?.message).toContain('Texts that came are kept, without their whole replies.');
    expect([state.get('image')?.taskId, state.get('text')?.text]).toEqual([
      'T',
      { candidates: [{ text: 'It is a fox.', isJson: false, parts: [] }] },
    ]);
    state.close();
  });

  it('stop all further sending', async () => {
    const state = open();
    const { records, attempts } = heard(state);
    const failure = await failureOf(() => state.commitSoon({ records, attempts, submits: 1 }));
    expect(failure?.code).toBe('state.io');
    expect(failure).not.toBeInstanceOf(UnkeptReplies);
    expect([state.get('image'), state.get('text')]).toEqual([undefined, undefined]);
    state.close();
  });
});
