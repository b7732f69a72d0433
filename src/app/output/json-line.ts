/** Characters that steer a terminal or the direction of text, and that JSON leaves as they are: C1 controls and others. */
const steering = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** JSON without a character that a terminal obeys, its own line ends apart: what reads it as JSON reads the same value. */
export const plainJson = (json: string): string => json.replaceAll(steering, escaped);

/** A value as one line of JSON that is safe on a terminal: what reads it as JSON reads the same value. */
export const jsonLine = (value: unknown): string => `${plainJson(JSON.stringify(value))}\n`;
