import { fail } from '../../failure.ts';
import { shownS3Address } from './address.ts';
import type { S3Client } from './client.ts';
import { elements, textOf } from './xml.ts';

/** Names in one page of a listing: the most that stores return. */
const pageNames = 1000;

interface Page {
  readonly names: readonly string[];
  /** Whether no page follows. */
  readonly isLast: boolean;
}

/** A page as the store returns it. */
interface Answered {
  /** Whole keys, in the order of the store. */
  readonly keys: readonly string[];
  /** Keys of folders that a console has made, empty objects whose names end with a slash. They are not content of the place. */
  readonly folders: ReadonlySet<string>;
  /** Whether the store says that it has more than this page. */
  readonly isCut: boolean;
  readonly token: string | undefined;
}

type From = { readonly 'continuation-token': string } | { readonly 'start-after': string } | undefined;

async function ask(client: S3Client, prefix: string, from: From): Promise<Answered> {
  const { body } = await client.ask({
    method: 'GET',
    query: {
      'list-type': '2',
      prefix: client.keyOf(prefix),
      'encoding-type': 'url',
      'max-keys': String(pageNames),
      ...from,
    },
    doing: 'list the objects',
  });
  const xml = body.toString();
  const decoded = decoderOf(xml);
  const found = elements(xml, 'Contents').map((one) => ({
    key: decoded(textOf(one, 'Key') ?? ''),
    isEmpty: textOf(one, 'Size') === '0',
  }));
  return {
    keys: found.map(({ key }) => key),
    folders: new Set(found.flatMap(({ key, isEmpty }) => (isEmpty && key.endsWith('/') ? [key] : []))),
    isCut: textOf(xml, 'IsTruncated') === 'true',
    token: textOf(xml, 'NextContinuationToken'),
  };
}

/**
 * Lists all names in the place that begin with a prefix, page by page; skips folders that a console has made. Stores sort by bytes, and
 * so do the names of artifacts.
 *
 * A store that announces more and then returns nothing is not trusted: it is asked again for names after the last one.
 *
 * @throws SaveError, also if the store returns an incomplete list
 */
export async function* pagesUnder(client: S3Client, prefix: string): AsyncGenerator<Page> {
  const base = client.keyOf('');
  let last: string | undefined;
  let from: From;
  let empty = 0;
  for (;;) {
    const page = await ask(client, prefix, from);
    const { keys, folders } = page;
    empty = keys.length === 0 ? empty + 1 : 0;
    if ((last !== undefined && keys.includes(last)) || empty > maxEmpty) notWhole(client);
    last = keys.at(-1) ?? last;
    from = nextFrom(page, from, last);
    const names = keys.filter((key) => key.startsWith(base) && !folders.has(key));
    yield {
      names: names.map((key) => key.slice(base.length)).filter((name) => name.startsWith(prefix)),
      isLast: from === undefined,
    };
    if (from === undefined) return;
  }
}

/** Most pages without a name in a row. */
const maxEmpty = 100;

/** Returns the start of the next page; undefined: this was the last one. */
function nextFrom({ keys, isCut, token }: Answered, from: From, last: string | undefined): From {
  const before = from !== undefined && 'continuation-token' in from ? from['continuation-token'] : undefined;
  if (isCut && token !== undefined && token !== before) return { 'continuation-token': token };
  // More was announced, by this page or by the one whose token led to nothing.
  const isEarly = keys.length > 0 ? isCut : before !== undefined;
  return isEarly && last !== undefined ? { 'start-after': last } : undefined;
}

const notWhole = ({ origin, address }: S3Client): never =>
  fail({
    code: 's3.failed',
    class: 'stop',
    message: `${origin} gives no complete list of the objects in ${shownS3Address(address)}: it repeats names, or has no end.`,
  });

/** Lists the same names one by one. */
export async function* namesUnder(client: S3Client, prefix: string): AsyncGenerator<string> {
  for await (const { names } of pagesUnder(client, prefix)) yield* names;
}

/** Returns the decoder of names in a listing requested with `encoding-type=url`, which some stores ignore or decline. */
function decoderOf(xml: string): (name: string) => string {
  if (textOf(xml, 'EncodingType') !== 'url') return (name) => name;
  return (name) => {
    try {
      return decodeURIComponent(name.replaceAll('+', ' '));
    } catch {
      return name;
    }
  };
}
