import type { MemoryReading } from '../../run/events.ts';
import type { BodyPool } from '../../service/http/body/budget.ts';

/** Reads the memory of this process, and the part that responses of the service take. */
export function memoryOf(bodies: BodyPool): MemoryReading {
  const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage();
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
