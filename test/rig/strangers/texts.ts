import type { Stranger } from './stranger.ts';

/** Text servers: what replies, streams and refusals of texts are made of them. */
export const texts: readonly Stranger[] = [
  {
    name: 'a chat server that refuses each call in words of FastAPI fails the row with these words',
    source: 'litellm proxy 1.108.7',
    pipeline: 'steps: { one: { chat: { model: text-pro, prompt: a fox } } }\n',
    exchanges: [['chat', { status: 400, body: { detail: 'Not a model of this proxy' } }]],
    verdict: {
      exit: 1,
      rows: { failed: 1 },
      codes: { 'service.rejected': 1 },
      asked: { chat: 1 },
      says: ['Not a model of this proxy'],
    },
  },
];
