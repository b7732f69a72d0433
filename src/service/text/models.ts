import { classify, unusableResponse } from '../failures/classify.ts';
import type { RequestFacts } from '../failures/request-context.ts';
import { members } from '../http/json.ts';
import type { Reply } from '../http/reply.ts';
import type { ServiceResult } from '../result.ts';
import type { JsonObject, Model } from '../text-service.ts';
import { objectsIn, textMember } from './reply/native.ts';

/** No service has more models; the rest is not read. */
const most = 10_000;

/** Reads the reply to GET /v1/models (gateway 7.2): `{ data: [{ id, … }] }`, or the list alone. */
export function readModels(reply: Reply, facts: RequestFacts): ServiceResult<readonly Model[]> {
  const failure = classify(reply, facts);
  if (failure !== undefined) return { ok: false, error: failure };
  const value = reply.body.kind === 'json' ? reply.body.value : undefined;
  const list = Array.isArray(value) ? value : members(value)?.['data'];
  if (!Array.isArray(list)) {
    return { ok: false, error: unusableResponse(reply, 'but its JSON is no list of models', facts) };
  }
  const models = new Map<string, Model>();
  for (const item of objectsIn(list.slice(0, most))) {
    const model = readModel(item, facts);
    if (model !== undefined && !models.has(model.id)) models.set(model.id, model);
  }
  return { ok: true, value: [...models.values()] };
}

function readModel(item: JsonObject, facts: RequestFacts): Model | undefined {
  const { id, created, owned_by: ownedBy, supported_endpoint_types: endpoints } = item;
  // An id is written into pipelines unchanged: an id that cannot be shown is no id.
  if (typeof id !== 'string' || id === '' || facts.clean(id) !== id) return undefined;
  return {
    id,
    ...textMember('ownedBy', typeof ownedBy === 'string' ? facts.clean(ownedBy) : ''),
    ...(Number.isSafeInteger(created) && (created as number) > 0 && { created: created as number }),
    endpoints: Array.isArray(endpoints)
      ? endpoints.filter((type) => typeof type === 'string').map(facts.clean)
      : [],
  };
}
