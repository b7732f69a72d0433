import type { TextService } from '../../service/text-service.ts';
import type { Disposables } from '../adapters/disposables.ts';
import { modelsOf, unlistedModels } from '../service/models.ts';
import type { RunLog } from './log.ts';
import type { RunSession } from './session.ts';

/**
 * Asks the service for its models beside the run, and warns of those that the run will ask and that are not listed. Never in
 * the way: a run that ends gives it up, and a list that cannot be had is a line of the log.
 */
export function checkModelsBeside(
  { plan, selection }: Pick<RunSession, 'plan' | 'selection'>,
  text: Pick<TextService, 'models'>,
  watch: { readonly log: RunLog; readonly say: (text: string) => void },
  disposables: Disposables,
): void {
  const over = new AbortController();
  const { log, say } = watch;
  const check = async (): Promise<void> => {
    const listed = await text.models(over.signal);
    if (over.signal.aborted) return;
    if (!listed.ok) {
      const { code, message } = listed.error;
      log.warn({ code, reason: message }, 'models:unknown');
      return;
    }
    const warnings = unlistedModels(await modelsOf(plan, selection), listed.value);
    if (over.signal.aborted) return;
    for (const warning of warnings) {
      log.warn({ code: 'model.unlisted', warning }, 'models:unlisted');
      say(`Warning: ${warning}`);
    }
  };
  const checked = check().catch((error: unknown) => {
    // A bug in a check that nothing depends on: it is reported, and stops nothing.
    if (!over.signal.aborted) log.warn({ error: String(error) }, 'models:unknown');
  });
  disposables.add(async () => {
    over.abort();
    await checked;
  });
}
