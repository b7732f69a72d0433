/** The schema of the native endpoint (upper-case types, `nullable`) as JSON Schema. */
export function fromOpenApi(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema;
  const {
    nullable,
    type,
    items,
    properties,
    anyOf,
    enum: words,
    example: _example,
    ...rest
  } = schema as Record<string, unknown>;
  const plain: Record<string, unknown> = { ...rest };
  const lower = typeof type === 'string' ? type.toLowerCase() : undefined;
  if (lower !== undefined) plain['type'] = nullable === true ? [lower, 'null'] : lower;
  // Words of a number's enum come as strings, because the field is a list of strings.
  if (Array.isArray(words)) {
    const own = words.map((word: unknown) =>
      lower === 'number' || lower === 'integer' ? Number(word) : word,
    );
    plain['enum'] = nullable === true ? [...own, null] : own;
  }
  if (items !== undefined) plain['items'] = fromOpenApi(items);
  if (typeof properties === 'object' && properties !== null) {
    plain['properties'] = Object.fromEntries(
      Object.entries(properties).map(([name, one]) => [name, fromOpenApi(one)]),
    );
  }
  if (Array.isArray(anyOf)) {
    const choices = anyOf.map(fromOpenApi);
    plain['anyOf'] = nullable === true && lower === undefined ? [...choices, { type: 'null' }] : choices;
  }
  return plain;
}
