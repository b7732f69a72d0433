import { cellsOf, listed, matrixOf, ranged, rowed } from './spec.ts';

/**
 * Run by `scale.test.ts` in a process of its own whose heap is far too small for ten million cells or for the
 * table. Prints what it found as one line of JSON.
 */
const names = Array.from({ length: 100 }, (_, index) => `name ${index}`);
const axes = [
  listed('a', names),
  listed(
    'b',
    names.map((name, weight) => ({ name, weight })),
  ),
  ranged('seed', 1, 1000),
];
const exclude = [{ a: 'name 3', b: { name: 'name 7' } }, { seed: 5 }, { a: 'name 9', seed: 7 }];

const whole = await matrixOf({ axes });
const part = await matrixOf({ axes, exclude });
const sampled = await matrixOf({ axes, exclude, sample: { count: 100, seed: 1 } });
let enumerated = 0;
for await (const { number } of whole.cells({ shard: { index: 1, of: 10 } }))
  enumerated += number === 0 ? 0 : 1;

/** A table of 17 MB, several times that as rows, that exists only while it is read. */
const rows = 400_000;
async function* table(): AsyncGenerator<Uint8Array, void, undefined> {
  yield Buffer.from('id,scene,light\n');
  for (let from = 0; from < rows; from += 1000) {
    const lines = Array.from(
      { length: 1000 },
      (_, index) => `${from + index},"a fox, asleep in the snow",low sun\n`,
    );
    yield Buffer.from(lines.join(''));
  }
}
const files = { root: '/', read: table, list: table, facts: async () => undefined };
const tabled = await matrixOf({ axes: [rowed('t.csv', ['id', 'scene', 'light'])] }, files);
let last: unknown;
for await (const { vars } of tabled.cells({ shard: { index: 10, of: 10 } })) last = vars['id'];

process.stdout.write(
  JSON.stringify({
    count: whole.cellCount,
    first: (await cellsOf(whole, { limit: 100 })).map(({ number }) => number),
    excluded: part.cellCount,
    sampled: (await cellsOf(sampled)).map(({ number }) => number),
    enumerated,
    tabled: tabled.cellCount,
    last,
  }),
);
