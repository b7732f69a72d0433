import { createHash } from 'node:crypto';
import { type Reply, refused } from './fake-reply.ts';

type Body = Readonly<Record<string, unknown>>;

/** What a body that begins a task from images asks for. */
export interface FakeEntry {
  readonly prompt: string;
  /** Names the request: the same for the same body, whatever its tag. */
  readonly asked: string;
  /** Films that it makes. */
  readonly films: number;
  /** Of a video that goes on: the task of it. */
  readonly extends?: string;
}

const isImage = (value: unknown): boolean =>
  typeof value === 'string' && /^data:image\/[a-z]+;base64,[A-Za-z0-9+/]+=*$/.test(value);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Checks a body as image proxies do (gateway 2.6). @returns a refusal with code 4 for one that is not right */
export function readEntry(route: 'blend' | 'describe' | 'video' | 'edits', body: Body): FakeEntry | Reply {
  const wrong = errorIn(route, body);
  if (wrong !== undefined) return refused(4, wrong);
  const { state: _, ...asked } = body;
  const prompt = textOf(body['prompt']);
  const hash = createHash('sha256').update(JSON.stringify(asked)).digest('hex').slice(0, 16);
  const { batchSize = 4 } = body;
  return {
    prompt,
    asked: `${route} ${hash}${prompt === '' ? '' : ` ${prompt}`}`,
    films: route === 'video' ? Number(batchSize) : 0,
    ...(body['action'] === 'extend' ? { extends: textOf(body['taskId']) } : {}),
  };
}

function errorIn(route: 'blend' | 'describe' | 'video' | 'edits', body: Body): string | undefined {
  switch (route) {
    case 'blend': {
      const images = body['base64Array'];
      if (!Array.isArray(images) || !images.every(isImage)) return 'base64Array is no list of data URIs';
      if (images.length < 2 || images.length > 5) return 'base64Array: 2 to 5 images';
      const { dimensions = 'SQUARE' } = body;
      return ['PORTRAIT', 'SQUARE', 'LANDSCAPE'].includes(textOf(dimensions)) ? undefined : 'dimensions';
    }
    case 'describe':
      return isImage(body['base64']) || /^https?:/.test(textOf(body['link'])) ? undefined : 'base64 or link';
    case 'edits':
      if (textOf(body['prompt']) === '') return 'prompt';
      return isImage(body['image']) && isImage(body['maskBase64']) ? undefined : 'image and maskBase64';
    case 'video': {
      const { motion, batchSize = 4, action } = body;
      if (motion !== 'low' && motion !== 'high') return 'motion';
      if (![1, 2, 4].includes(Number(batchSize)) || typeof batchSize !== 'number') return 'batchSize';
      if (action === 'extend') return typeof body['index'] === 'number' ? undefined : 'index';
      return isImage(body['image']) ? undefined : 'image';
    }
  }
}
