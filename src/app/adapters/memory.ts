import type { MemoryReading } from '../../run/events.ts';
import type { BodyPool } from '../../service/http/body/budget.ts';
import type { Machine } from '../output/io.ts';

/** The memory of this process, and the part that responses of the service take. */
export function memoryOf(machine: Pick<Machine, 'memory'>, bodies: BodyPool): MemoryReading {
  const { rss, heapUsed, external, arrayBuffers } = machine.memory();
  return {
    rssBytes: rss,
    heapBytes: heapUsed,
    externalBytes: external,
    arrayBufferBytes: arrayBuffers,
    answerBytes: bodies.held,
    mostAnswerBytes: bodies.most,
    answersWaiting: bodies.waiting,
  };
}
