export const EthosRegistry = async () => ({
  "tool.execute.after": async (input, output) => {
    try {
      const answer = await ask({ input, output })
      if (typeof answer?.output === "string") output.output = answer.output
      if (Array.isArray(answer?.content)) output.content = answer.content
    } catch {
      // An exception would replace the result.
    }
  },
})
