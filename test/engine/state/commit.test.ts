import { expect, it } from 'vitest';
import { RecordCache } from '../../../src/engine/state/cache.ts';
import { sentTurn } from '../../../src/engine/state/commit.ts';
import { storedForm } from '../../../src/state/sqlite/texts.ts';
import { jobRecord } from '../../state/records.ts';

const writer = { run: 1, session: 1 };

it('sends each document once, as it is stored, with few further bytes', () => {
  const text = 'He said: "a\nb"';
  const candidates = [{ text, parts: [{ text }], isJson: false }];
  const records = Array.from({ length: 8 }, (_unused, at) =>
    jobRecord(`k${at}`, 'done', { text: { candidates } }),
  );
  const { values } = sentTurn({ records, attempts: [] }, 1, writer, new RecordCache(), {
    lines: [{ segment: 0, start: 0, line: '{"job":"k0","reply":{}}' }],
    isNewInvocation: false,
  });
  const stored = records.map((record) => storedForm(record));
  expect(values).toContain(stored.map(({ doc }) => doc).join('\n'));
  expect(values).toContain(stored.map(({ said }) => said).join('\n'));
  expect(values).toContain('{"job":"k0","reply":{}}');
  const documents = stored.reduce((sum, { doc, said = '' }) => sum + doc.length + said.length, 0);
  const sent = values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0);
  expect(sent).toBeLessThan(documents + 400 * records.length);
});

it('refuses a document that would be read as two', () => {
  const more = { lines: [{ segment: 0, start: 0, line: '{\n}' }], isNewInvocation: false };
  expect(() => sentTurn({ records: [], attempts: [] }, 1, writer, new RecordCache(), more)).toThrow(
    'Internal error: a document of a turn has several lines.',
  );
});
