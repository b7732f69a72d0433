import { describe, expect, it } from 'vitest';
import type { QuickTaskTimes } from '../../rig/quick-options.ts';
import { mostTasks, useOfTasks } from './limits.ts';

describe('a limit of tasks in flight', () => {
  it('is used fully where each submission follows an end that was seen', () => {
    const tasks: QuickTaskTimes[] = [
      [0, 10],
      [2, 12],
      [10, 20],
      [12, 22],
    ];
    expect(useOfTasks(tasks, 2)).toBe(1);
    expect(mostTasks(tasks)).toBe(2);
  });

  it('is used less where a slot waits, and shows what is above it', () => {
    const tasks: QuickTaskTimes[] = [
      [0, 4],
      [0, 10],
      [9, 20],
      [10, 20],
    ];
    expect(useOfTasks(tasks, 2)).toBe(0.75);
    expect(mostTasks([...tasks, [10, 11], [15, 16]])).toBe(3);
  });
});
