import { describe, expect, it } from 'vitest';
import { jobRecord } from '../state/records.ts';
import { Crash, faultyStore } from './faulty-store.ts';
import { memoryStore } from './memory-store.ts';

const turn = (key: string) => ({ records: [jobRecord(key, 'running')], attempts: [] });

describe('the faulty store', () => {
  it('fails the chosen write with the chosen code, once or from then on', () => {
    const once = faultyStore(memoryStore(), [{ at: 2, fault: 'state.full' }]);
    once.commit(turn('a'));
    expect(() => once.commit(turn('b'))).toThrow(expect.objectContaining({ code: 'state.full' }));
    once.commit(turn('c'));
    expect(once.unfinished().map(({ key }) => key)).toEqual(['a', 'c']);
    expect(once.writes).toBe(3);
    expect(once.turns).toHaveLength(2);

    const lasting = faultyStore(memoryStore(), [{ at: 2, fault: 'state.io', lasting: true }]);
    lasting.setFact('a', '1');
    for (const key of ['b', 'c']) {
      expect(() => lasting.commit(turn(key))).toThrow(expect.objectContaining({ code: 'state.io' }));
    }
    expect(lasting.fact('a')).toBe('1');
  });

  it.each([
    ['crash-before', ['a']],
    ['crash-after', ['a', 'b']],
  ] as const)('dies at the chosen write: %s', (fault, kept) => {
    const disk = memoryStore();
    const store = faultyStore(disk, [{ at: 2, fault }]);
    store.commit(turn('a'));
    expect(() => store.commit(turn('b'))).toThrow(Crash);
    expect(() => store.commit(turn('c'))).toThrow(Crash);
    expect(() => store.get('a')).toThrow(Crash);
    store.close();
    expect(disk.unfinished().map(({ key }) => key)).toEqual(kept);
  });
});
