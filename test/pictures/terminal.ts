import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import type { Terminal as TerminalType } from '@xterm/headless';

const { Terminal } = createRequire(import.meta.url)('@xterm/headless') as { Terminal: typeof TerminalType };

export const columns = 92;
export const rows = 19;

/** A piece of a line in one look. Colours are the sixteen of terminals; absent: the terminal's own. */
export interface Piece {
  readonly text: string;
  readonly color?: number;
  readonly bold: boolean;
  readonly dim: boolean;
}

/** What a terminal shows from a moment on, ms from the start. */
export interface Frame {
  readonly at: number;
  readonly lines: readonly (readonly Piece[])[];
}

/** A terminal that is recorded: what programs print into it becomes frames. */
export class Recording {
  readonly #terminal = new Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 1000 });
  readonly #frames: Frame[] = [];
  #now = 0;

  get frames(): readonly Frame[] {
    return this.#frames;
  }

  /** Shows a prompt, and a command that is typed. */
  async type(command: string): Promise<void> {
    await this.#write('\u001B[32m$\u001B[0m ');
    for (const sign of command) {
      await this.#write(sign);
      this.#now += 28;
      this.#keep();
    }
    this.pause(350);
    await this.#write('\r\n');
    this.#keep();
  }

  pause(ms: number): void {
    this.#now += ms;
  }

  async say(text: string): Promise<void> {
    await this.#write(text.replaceAll('\n', '\r\n'));
    this.#keep();
  }

  async clear(): Promise<void> {
    await this.#write('\u001B[2J\u001B[H');
    this.#keep();
  }

  /**
   * Runs a command in a pseudo-terminal of this size and keeps what it shows, at most every 120 ms.
   *
   * @param onText is called with what was printed so far; may kill the program
   */
  async run(command: string, cwd: string, onText: (text: string) => void = () => undefined): Promise<void> {
    const size = `stty cols ${columns} rows ${rows}; exec ${command}`;
    const child = spawn('script', ['--quiet', '--return', '--flush', '--command', size, '/dev/null'], {
      cwd,
      env: { PATH: process.env['PATH'], HOME: cwd, TERM: 'xterm-256color', LANG: 'C.UTF-8' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [began, from] = [performance.now(), this.#now];
    let kept = Number.NEGATIVE_INFINITY;
    let said = '';
    child.stdout.setEncoding('utf8');
    for await (const text of child.stdout as AsyncIterable<string>) {
      said += text;
      onText(said);
      await this.#write(text);
      this.#now = from + (performance.now() - began);
      if (this.#now - kept < 120) continue;
      kept = this.#now;
      this.#keep();
    }
    this.#keep();
  }

  #write(text: string): Promise<void> {
    return new Promise((resolve) => this.#terminal.write(text, resolve));
  }

  #keep(): void {
    const { active } = this.#terminal.buffer;
    const lines = Array.from({ length: rows }, (_, row) => piecesOf(active.getLine(active.baseY + row)));
    const last = this.#frames.at(-1);
    if (last !== undefined && JSON.stringify(last.lines) === JSON.stringify(lines)) return;
    if (last !== undefined && last.at >= this.#now) this.#frames.pop();
    this.#frames.push({ at: Math.round(this.#now), lines });
  }
}

type Line = NonNullable<ReturnType<TerminalType['buffer']['active']['getLine']>>;

function piecesOf(line: Line | undefined): readonly Piece[] {
  const pieces: { text: string; color?: number; bold: boolean; dim: boolean }[] = [];
  if (line === undefined) return [];
  for (let column = 0; column < line.length; column += 1) {
    const cell = line.getCell(column);
    if (cell === undefined || cell.getWidth() === 0) continue;
    const look = {
      ...(cell.isFgPalette() ? { color: cell.getFgColor() } : {}),
      bold: cell.isBold() !== 0,
      dim: cell.isDim() !== 0,
    };
    const text = cell.getChars() || ' ';
    const last = pieces.at(-1);
    if (last !== undefined && last.color === look.color && last.bold === look.bold && last.dim === look.dim)
      last.text += text;
    else pieces.push({ text, ...look });
  }
  const last = pieces.at(-1);
  if (last !== undefined) last.text = last.text.trimEnd();
  return pieces.filter(({ text }) => text !== '');
}
