import { fail } from '../../failure.ts';
import { shownS3Address } from './address.ts';
import type { S3Client } from './client.ts';
import { elements, textOf } from './xml.ts';

/** Names in one page of a listing, the most that stores give. */
const pageNames = 1000;

/** One page of names within a place. */
interface Page {
  readonly names: readonly string[];
  /** No page follows. */
  readonly isLast: boolean;
}

/** A page as the store gives it. */
interface Answered {
  /** Whole keys, in the order of the store. */
  readonly keys: readonly string[];
  /** Those of folders that a console has made: objects without content whose names end with a slash. They are no content of the place. */
  readonly folders: ReadonlySet<string>;
  /** The store has more than this page, by its own word. */
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
 * The names within the place that begin so, page by page, whatever they are; folders that a console has made are passed over. Stores list by bytes,
 * and so do the names of artifacts sort.
 *
 * A store whose listing promises more and then gives nothing is not believed: it is asked for what lies behind the last name.
 *
 * @throws SaveError, also where the store gives no whole list
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
    if ((last !== undefined && keys.includes(last)) || empty > mostEmpty) notWhole(client);
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

/** Pages without a name that a store may give in a row. */
const mostEmpty = 100;

/** Where the next page begins; undefined: this was the last one. */
function nextFrom({ keys, isCut, token }: Answered, from: From, last: string | undefined): From {
  const before = from !== undefined && 'continuation-token' in from ? from['continuation-token'] : undefined;
  if (isCut && token !== undefined && token !== before) return { 'continuation-token': token };
  // More was promised, by this page or by the one whose token led to nothing.
  const isEarly = keys.length > 0 ? isCut : before !== undefined;
  return isEarly && last !== undefined ? { 'start-after': last } : undefined;
}

const notWhole = ({ origin, address }: S3Client): never =>
  fail({
    code: 's3.failed',
    class: 'stop',
    message: `${origin} gives no whole list of the objects in ${shownS3Address(address)}: it repeats names, or has no end.`,
  });

/** The same, name by name. */
export async function* namesUnder(client: S3Client, prefix: string): AsyncGenerator<string> {
  for await (const { names } of pagesUnder(client, prefix)) yield* names;
}

/** How the names in a listing are read that was asked for with `encoding-type=url`: some stores pass over the wish, or say that they do not. */
export function decoderOf(xml: string): (name: string) => string {
  if (textOf(xml, 'EncodingType') !== 'url') return (name) => name;
  return (name) => {
    try {
      return decodeURIComponent(name.replaceAll('+', ' '));
    } catch {
      return name;
    }
  };
}
