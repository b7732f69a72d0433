// Loaded into the command with --import: a bug deep inside that has the key at hand.
Math.random = () => {
  throw new Error(`a bug that met ${process.env.MY_KEY}`, {
    cause: new Error(`and ${JSON.stringify(process.env.MY_KEY)}`),
  });
};
