import type { JobRecord } from '../../../src/plan/job.ts';
import type { TextRequest } from '../../../src/plan/job-request.ts';
import { Scene } from '../scene.ts';

/** One cell of a plan with text steps, and what happens to its jobs. */
export class TextScene extends Scene {
  reply(name: string, text: string, isJson = false, changes: Partial<JobRecord> = {}): void {
    this.state.reply(this.at(name), text, isJson, changes);
  }

  override request(name: string): TextRequest {
    return super.request(name) as TextRequest;
  }
}
