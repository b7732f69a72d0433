/** Characters that control a terminal or the direction of text and that JSON leaves unescaped: C1 controls and others. */
const steering = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Escapes all terminal control characters in JSON, except its own line ends; the parsed value stays the same. */
export const plainJson = (json: string): string => json.replaceAll(steering, escaped);

/** Returns a value as one line of JSON that is safe on a terminal; the parsed value stays the same. */
export const jsonLine = (value: unknown): string => `${plainJson(JSON.stringify(value))}\n`;
