import { type Draft, type Piece, piece } from '../input.ts';
import type { Random } from '../random.ts';
import { mutate, odd } from './oddity.ts';

const forms = ['csv', 'tsv', 'jsonl', 'json', 'yaml'] as const;
type Form = (typeof forms)[number];

const mebi = 1024 * 1024;

const valid: Readonly<Record<Form, string>> = {
  csv: 'scene,size\r\n"a ""b""\nc",1\r\nat dusk,2\r\n',
  tsv: 'scene\tsize\n"a"\t1\nat dusk\t2\n',
  jsonl: '{"scene":"a","size":{"w":1.0}}\n{"size":[1,2],"scene":"b"}\n',
  json: '[{"scene":"a","size":{"w":1.0}},\n {"size":[1,2],"scene":"b"}]\n',
  yaml: '- { scene: a, size: &s { w: 1.0 } }\n- { scene: b, size: *s }\n',
};

const header: Readonly<Record<Form, string>> = {
  csv: 'scene,size\n',
  tsv: 'scene\tsize\n',
  jsonl: '{"scene":"a","size":1}\n',
  json: '[{"scene":"a","size":1},\n',
  yaml: '- { scene: a, size: 1 }\n',
};

const pieces = (...parts: readonly (string | Piece)[]): readonly Piece[] =>
  parts.map((part) => (typeof part === 'string' ? piece(part) : part));

/** One line without end; once in a while of 100 MB, which must be given up long before it has been read. */
function longLine(form: Form, random: Random): readonly Piece[] {
  const unit = random.pick([
    'a',
    '"',
    '""',
    ',',
    '\t',
    '{',
    '[',
    '"a",',
    'a,b',
    '\\',
    ' ',
    '\r',
    '\0',
    '{"a":',
    '- ',
    '&a ',
    'é',
  ]);
  const bytes = random.happens(0.01) ? 100 * mebi : random.size(3 * mebi);
  return pieces(
    random.pick(['', header[form], '"', '{"scene":"']),
    piece(unit, Math.ceil(bytes / unit.length)),
    random.pick(['', '\n', '"\n']),
  );
}

function manyColumns(form: Form, random: Random): readonly Piece[] {
  const count = random.happens(0.03) ? 100_000 : random.size(2000);
  const names = Array.from({ length: count }, (_, at) => `c${at}`);
  switch (form) {
    case 'csv':
      return pieces(`${names.join(',')}\n`, piece('x,', count - 1), 'x\n');
    case 'tsv':
      return pieces(`${names.join('\t')}\n`, piece('x\t', count - 1), 'x\n');
    case 'jsonl':
      return pieces(`{${names.map((name) => `"${name}":1`).join(',')}}\n`);
    case 'json':
      return pieces(`[{${names.map((name) => `"${name}":1`).join(',')}}]\n`);
    case 'yaml':
      return pieces(`- {${names.map((name) => `${name}: 1`).join(', ')}}\n`);
  }
}

/** Names of JavaScript's own as columns, and odd texts as values. */
function oddColumns(form: Form, random: Random): readonly Piece[] {
  const [name, other] = [odd(random), odd(random)];
  const value = odd(random);
  switch (form) {
    case 'csv':
      return pieces(`${name},${other}\n${value},2\n`);
    case 'tsv':
      return pieces(`${name}\t${other}\n${value}\t2\n`);
    case 'jsonl':
      return pieces(`{${JSON.stringify(name)}:1,"b":{${JSON.stringify(other)}:${JSON.stringify(value)}}}\n`);
    case 'json':
      return pieces(
        `[{${JSON.stringify(name)}:1,"b":{${JSON.stringify(other)}:${JSON.stringify(value)}}}]\n`,
      );
    case 'yaml':
      return pieces(`- { ${JSON.stringify(name)}: 1, b: { ${JSON.stringify(other)}: ${value} } }\n`);
  }
}

function nested(form: Form, random: Random): readonly Piece[] {
  const times = random.size(200_000);
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['[[],', ']'],
    ['{"__proto__":', '}'],
  ] as const);
  const starts = { yaml: '- { a: ', json: '[{"a":' } as const;
  const start = form === 'yaml' || form === 'json' ? starts[form] : '{"a":';
  return pieces(
    start,
    piece(open, times),
    '1',
    piece(close, random.happens(0.8) ? times : 0),
    form === 'yaml' ? ' }\n' : form === 'json' ? '}]\n' : '}\n',
  );
}

const encodings = (form: Form, random: Random): readonly Piece[] => {
  const text = random.pick([valid[form], `é${valid[form]}`, valid[form].replace('a', '\uFEFF')]);
  const encoding = random.pick(['latin1', 'utf16le'] as const);
  const bytes: Piece = {
    text: random.happens(0.5) ? `\uFEFF${text}` : text,
    times: random.size(100),
    encoding,
  };
  return random.happens(0.5) ? [bytes] : [piece(header[form]), piece('é\n', random.size(50)), bytes];
};

/** Rows upon rows. */
const manyRows = (form: Form, random: Random): readonly Piece[] => {
  const row = random.pick([
    {
      csv: 'a,b\n',
      tsv: 'a\tb\n',
      jsonl: '{"scene":1,"size":2}\n',
      json: '{"scene":1,"size":2},\n',
      yaml: '- { scene: a, size: 1 }\n',
    },
    { csv: '\n', tsv: '\n', jsonl: '\n', json: '\n', yaml: '\n' },
    { csv: '"\n",""\n', tsv: '\r\n', jsonl: ' \n', json: ',\n', yaml: '# \n' },
    { csv: 'a\n', tsv: 'a\n', jsonl: '{}\n', json: '{},\n', yaml: '- {}\n' },
    { csv: '"', tsv: '""', jsonl: '"', json: '"', yaml: '"\n' },
  ])[form];
  return pieces(header[form], piece(row, random.size(random.happens(0.01) ? 400_000 : 4000)));
};

/** Aliases of aliases, and anchors that hold themselves. */
const aliases = (_form: Form, random: Random): readonly Piece[] => {
  const width = random.whole(2, 10);
  const lines = ['- { a: &a0 [x, x, x] }'];
  for (let at = 1; at < random.whole(2, 30); at += 1) {
    lines.push(
      `- { a: &a${at} [${Array.from({ length: width }, () => `*a${random.happens(0.95) ? at - 1 : at}`).join(', ')}] }`,
    );
  }
  return pieces(`${lines.join('\n')}\n`);
};

/** A table's bytes: of each format, and the way each is most easily broken. */
export function hostileTable(random: Random): Draft {
  const form = random.pick(forms);
  const chunk = random.pick([0, 0, 1, 3, 1000, 65_536, 100_000]);
  const draw = random.pick([
    longLine,
    manyColumns,
    oddColumns,
    oddColumns,
    nested,
    encodings,
    manyRows,
    aliases,
  ]);
  const drawn = random.happens(0.4)
    ? [piece(mutate(valid[form].repeat(random.whole(1, 20)), random))]
    : draw(form, random);
  return { form: random.happens(0.03) ? random.pick(forms) : form, pieces: drawn, chunk };
}
