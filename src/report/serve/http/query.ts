import { isObject } from '../../../pipeline/values/value.ts';
import type { IndexQuery } from '../index/find.ts';

/** Results that one answer holds, at most. */
const mostResults = 500;

/** What a request for results asks for. */
export interface AskedResults {
  readonly query: IndexQuery;
  readonly offset: number;
  readonly limit: number;
}

/** Reads the parameters `q`, `offset` and `limit`; undefined where they are not as the wire has them. */
export function askedResults(parameters: URLSearchParams): AskedResults | undefined {
  const offset = wholeNumber(parameters.get('offset') ?? '0');
  const limit = wholeNumber(parameters.get('limit') ?? '100');
  if (offset === undefined || limit === undefined || limit > mostResults) return undefined;
  try {
    const query: unknown = JSON.parse(parameters.get('q') ?? '{}');
    return isQuery(query) ? { query: known(query), offset, limit } : undefined;
  } catch {
    return undefined;
  }
}

function wholeNumber(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

const sorts: readonly unknown[] = ['plan', 'newest', 'cost', 'duration'];

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

function isQuery(value: unknown): value is IndexQuery {
  if (!isObject(value)) return false;
  const { search, steps, statuses, errorCode, vars, sort, jobs } = value;
  return (
    (search === undefined || typeof search === 'string') &&
    [steps, statuses, jobs].every((list) => list === undefined || isTexts(list)) &&
    (errorCode === undefined || typeof errorCode === 'string') &&
    (vars === undefined || (isObject(vars) && Object.values(vars).every(isTexts))) &&
    (sort === undefined || sorts.includes(sort))
  );
}

/** Without what the wire does not name: equal questions are equal texts. */
function known({ search, steps, statuses, errorCode, vars, sort, jobs }: IndexQuery): IndexQuery {
  return {
    ...(search === undefined ? {} : { search }),
    ...(steps === undefined ? {} : { steps }),
    ...(statuses === undefined ? {} : { statuses }),
    ...(errorCode === undefined ? {} : { errorCode }),
    ...(vars === undefined ? {} : { vars }),
    ...(sort === undefined ? {} : { sort }),
    ...(jobs === undefined ? {} : { jobs }),
  };
}
