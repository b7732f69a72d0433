/** For `--import`: the clock of this process is CLOCK_OFF_MS ahead of the machine's, or behind it where that is below zero. */
const offMs = Number(process.env.CLOCK_OFF_MS);
const { now } = Date;

globalThis.Date = class extends Date {
  constructor(...args) {
    if (args.length === 0) super(now() + offMs);
    else super(...args);
  }

  static now() {
    return now() + offMs;
  }
};
