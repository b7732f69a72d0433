import { exitCodes } from '../../../app/errors/cli-error.ts';
import { type Command, type CommandHelp, command } from '../../args/command.ts';
import { bashCompletion } from '../../args/completion/bash.ts';
import { fishCompletion } from '../../args/completion/fish.ts';
import { completedCommands } from '../../args/completion/words.ts';
import { zshCompletion } from '../../args/completion/zsh.ts';
import { summaries } from '../../args/summaries.ts';
import { oneOf } from '../../args/values.ts';

const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;
const shells = Object.keys(scripts) as readonly (keyof typeof scripts)[];

/** `promptpress completion SHELL`. @param commands loads all commands, whose tables the scripts are made from */
export const completionOf = (commands: () => Promise<readonly CommandHelp[]>): Command =>
  command(
    {
      name: 'completion',
      summary: summaries.completion,
      operands: shells.join('|'),
      about: `Prints what a shell needs to complete promptpress with the Tab key: commands, their flags, the words and files that these take. It is made from the same tables as the help of the commands; print it again after an update.`,
      examples: [
        { command: 'eval "$(promptpress completion bash)"', does: 'in ~/.bashrc' },
        { command: 'eval "$(promptpress completion zsh)"', does: 'in ~/.zshrc, below compinit' },
        {
          command: 'promptpress completion fish > ~/.config/fish/completions/promptpress.fish',
          does: 'once, for fish',
        },
      ],
      flags: {},
    },
    { least: 1, most: 1 },
    async (_flags, [shell = ''], { io }) => {
      const script = scripts[oneOf(...shells)(shell, 'promptpress completion')];
      await io.out(script(completedCommands(await commands())));
      return exitCodes.ok;
    },
  );
