import { quoted } from './printable.ts';

/** What to do about a run on an engine in this state, in one sentence; undefined: nothing. @param name `postgres://…#name` */
export function stageAdvice(state: string, name: string): string | undefined {
  const engine = quoted(name.split('#', 1)[0] ?? '');
  switch (state) {
    case 'registered':
      return `no worker has begun; start one: promptpress worker --engine ${engine}`;
    case 'waiting':
      return `no worker is at work; start one: promptpress worker --engine ${engine}`;
    case 'running':
      return `promptpress status ${quoted(name)} --watch shows it, promptpress stop ${quoted(name)} ends it.`;
    case 'killed':
      return 'its coordinator ended before all cells were given; its command, given again, goes on.';
    case 'stopped':
    case 'interrupted':
    case 'budget':
    case 'disk':
      return 'its command, given again, continues it.';
    default:
      return undefined;
  }
}
