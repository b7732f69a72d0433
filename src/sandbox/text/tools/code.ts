import type { ReplyPart } from '../answer.ts';

/** Code that the model writes and runs: it adds up the prompt's numbers, or counts its words. */
export function codeParts(prompt: string): readonly ReplyPart[] {
  const numbers = (prompt.match(/-?\d+(?:\.\d+)?/g) ?? []).slice(0, 50).map(Number);
  if (numbers.length > 0) {
    const sum = Math.round(numbers.reduce((total, number) => total + number, 0) * 1e6) / 1e6;
    return [
      { kind: 'code', code: `numbers = [${numbers.join(', ')}]\nprint(round(sum(numbers), 6))\n` },
      { kind: 'output', output: `${sum}\n` },
    ];
  }
  const text = prompt.slice(0, 200);
  return [
    { kind: 'code', code: `text = ${JSON.stringify(text)}\nprint(len(text.split()))\n` },
    { kind: 'output', output: `${text.split(/\s+/).filter((word) => word !== '').length}\n` },
  ];
}
