/** A checked body, or the message of its rejection (gateway 8.2). */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: string };

/** A JSON object as it came. */
export type OrderMembers = Readonly<Record<string, unknown>>;

export const no = (error: string): { readonly ok: false; readonly error: string } => ({ ok: false, error });

/** Reads a body as a JSON object. */
export function readMembers(bytes: Buffer): Checked<OrderMembers> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (failure) {
    return no(`invalid JSON: ${failure instanceof Error ? failure.message.slice(0, 200) : 'unreadable'}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return no('invalid JSON: expected an object');
  }
  return { ok: true, value: value as OrderMembers };
}

/** A text that must be there. */
export function requiredText(members: OrderMembers, name: string): Checked<string> {
  const text = optionalText(members, name);
  return text.ok && text.value.trim() === '' ? no(`${name} is required`) : text;
}

/** A text; empty where it is absent. */
export function optionalText(members: OrderMembers, name: string): Checked<string> {
  const value = members[name] ?? '';
  return typeof value === 'string'
    ? { ok: true, value }
    : no(`${name}: expected a string, got ${describe(value)}`);
}

/** One of several words or numbers; where it is absent, the usual one. */
export function memberOneOf<const T extends string | number>(
  members: OrderMembers,
  name: string,
  choices: readonly T[],
  usual: T,
): Checked<T> {
  const value = members[name] ?? usual;
  const choice = choices.find((each) => each === value);
  if (choice !== undefined) return { ok: true, value: choice };
  const got =
    typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, 100) : describe(value);
  return no(`${name}: expected ${choices.join(', ')}, got ${got}`);
}

export function describe(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
