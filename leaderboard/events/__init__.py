"""Events about agents as partners and operators report them: from JSON to fact rows."""
