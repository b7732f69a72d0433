/**
 * What a user would write instead: so many generate calls, some at a time, each text a line of a file. Nothing is kept for another try,
 * and nothing is synced.
 * node texts.mjs CALLS AT_ONCE
 */
import { createWriteStream } from 'node:fs';
import pLimit from 'p-limit';
import { Agent, request } from 'undici';

const { PROMPTPRESS_BASE_URL: base, PROMPTPRESS_API_KEY: key } = process.env;
const [calls, atOnce] = process.argv.slice(2).map(Number);
const dispatcher = new Agent({ connections: atOnce });
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
const limit = pLimit(atOnce);
const out = createWriteStream('texts.jsonl');

await Promise.all(
  Array.from({ length: calls }, (_, index) =>
    limit(async () => {
      const prompt = `Say something short about number ${index + 1}.`;
      const response = await request(`${base}/v1beta/models/text-pro:generateContent`, {
        dispatcher,
        method: 'POST',
        headers,
        body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: prompt }] }] }),
      });
      const reply = await response.body.json();
      if (response.statusCode !== 200) throw new Error(`${response.statusCode}`);
      const { text } = reply.candidates[0].content.parts[0];
      out.write(`${JSON.stringify({ prompt, text })}\n`);
    }),
  ),
);
await new Promise((resolve) => out.end(resolve));
await dispatcher.close();
