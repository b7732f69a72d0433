import { createHash } from 'node:crypto';
import { digestOf } from '../seeded.ts';

/** The same text for equal values, whatever the order of their members; bytes by their hash. */
export function canonical(value: unknown): string {
  if (Buffer.isBuffer(value)) return `"bytes ${createHash('sha256').update(value).digest('hex')}"`;
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

/** Content hash of a value. */
export const digestOfValue = (value: unknown): string => digestOf(canonical(value));
